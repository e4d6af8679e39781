# Argument: FOLDER, as capture.sh made it.
rm -rf -- "$1"

"""What is said of each rank: whose work a bar is, and what is no longer true when a start is over."""

from timeline import loading, serving


def test_the_bar_is_work_of_rank_0():
    line = loading(4).spawn(4).wait(60).sample()
    for done in range(1, 4):
        line.wait(10).bar(done, 24)
    quiet = [rank.quiet_s for rank in line.verdict(2).ranks]
    assert quiet[0] == 2
    assert all(other is None or other > 20 for other in quiet[1:])


def test_what_ranks_were_doing_is_not_told_of_an_end():
    line = loading(2).wait(5).end("weights", [0, 1]).begin("graphs", [0, 1]).fault("oom", rank=1)
    assert not any("in step" in rank.note or "waits for" in rank.note for rank in line.verdict().ranks)


def test_no_phase_grows_after_the_end():
    line = loading(2).wait(5).fault("oom", rank=1).bytes()
    took = line.verdict(1).phases[-1].seconds
    assert line.verdict(100).phases[-1].seconds == took


def test_no_phase_grows_after_the_launcher_although_a_rank_lives_on():
    line = serving(2).spawn(2).wait(60).kill(None).sample()
    took = line.verdict().phases[-1].seconds
    assert line.verdict().phases[-1].phase == "serving"
    assert took >= 60
    line.wait(30).bytes().kill(0).sample()
    assert line.verdict(100).phases[-1].seconds == took

"""The style sheet of the page: light and dark by the reader's own preference, narrow and wide, and on paper light."""

from __future__ import annotations

_LIGHT = (
    "--ink:#1a2230;--soft:#5a6577;--faint:#e0e5ec;--paper:#fff;--ground:#f4f6f9;--code:#f6f8fa;"
    "--good:#17683a;--bad:#b42318;--warn:#8a5300;--busy:#1d5fd1;--mark:#fdecea;color-scheme:light"
)
_DARK = (
    "--ink:#e6eaf0;--soft:#9aa6b8;--faint:#2b3442;--paper:#121821;--ground:#0b0f15;--code:#0d131b;"
    "--good:#63c98a;--bad:#ff8f84;--warn:#f0b45a;--busy:#7fb0ff;--mark:#3a1b1c;color-scheme:dark"
)
_SANS = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"
_MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"

SHEET = f"""
:root{{{_LIGHT}}}
@media screen and (prefers-color-scheme:dark){{:root{{{_DARK}}}}}
*{{box-sizing:border-box}}
body{{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 {_SANS};-webkit-text-size-adjust:100%}}
main{{max-width:1080px;margin:0 auto;padding:28px 20px 48px}}
header,section{{background:var(--paper);border:1px solid var(--faint);border-radius:10px;
 padding:20px 24px;margin:0 0 16px}}
header{{border-left:6px solid var(--tone)}}
.t-good{{--tone:var(--good)}}.t-bad{{--tone:var(--bad)}}.t-warn{{--tone:var(--warn)}}
.t-busy{{--tone:var(--busy)}}.t-plain{{--tone:var(--soft)}}
.over{{display:flex;flex-wrap:wrap;gap:4px 14px;align-items:baseline;color:var(--soft);font-size:13px}}
.state{{color:var(--tone);font-weight:700;font-size:14px;letter-spacing:.06em;text-transform:uppercase}}
h1{{font-size:23px;line-height:1.3;margin:8px 0 6px;overflow-wrap:anywhere;text-wrap:balance}}
h2{{font-size:15px;margin:0 0 12px}}
p{{margin:0 0 10px;overflow-wrap:anywhere}}p:last-child{{margin-bottom:0}}
.soft{{color:var(--soft)}}.small{{font-size:13px}}
.tiles{{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:12px 20px;margin:18px 0 0}}
.tiles dt{{color:var(--soft);font-size:12px}}
.tiles dd{{margin:0;font-size:18px;font-weight:600;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}}
.tiles small{{display:block;font-weight:400;font-size:12px;color:var(--soft)}}
.draw{{overflow-x:auto;margin:0 -8px}}
.chart{{display:block;width:100%;min-width:680px;height:auto;padding:0 8px}}
pre{{background:var(--code);border:1px solid var(--faint);border-radius:6px;margin:0 0 12px;padding:10px 0;
 font:12.5px/1.55 {_MONO};overflow:hidden;white-space:pre-wrap;overflow-wrap:anywhere}}
pre>span{{display:block;padding:0 12px 0 66px;text-indent:-54px;direction:ltr;unicode-bidi:isolate}}
pre>span.bare{{padding-left:12px;text-indent:0}}
pre i{{display:inline-block;width:46px;margin-right:8px;text-indent:0;text-align:right;font-style:normal;
 color:var(--soft);user-select:none}}
pre .hit{{background:var(--mark);font-weight:600;box-shadow:inset 3px 0 var(--bad)}}
code{{font:.92em {_MONO};overflow-wrap:anywhere;direction:ltr;unicode-bidi:isolate}}
.do{{border-left:3px solid var(--busy);padding-left:12px}}
table{{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-nums}}
th,td{{text-align:left;padding:5px 12px 5px 0;border-top:1px solid var(--faint);vertical-align:top}}
thead th{{border-top:0;color:var(--soft);font-weight:500}}tbody th{{font-weight:600}}
td{{overflow-wrap:anywhere}}.r{{text-align:right;white-space:nowrap}}
.wide{{overflow-x:auto}}
.key{{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:8px;vertical-align:baseline}}
.facts{{display:grid;grid-template-columns:minmax(110px,max-content) 1fr;gap:6px 20px;margin:0;font-size:14px}}
.facts dt{{color:var(--soft)}}.facts dd{{margin:0;overflow-wrap:anywhere;min-width:0}}
ul{{margin:0;padding-left:20px}}li{{margin:0 0 6px;overflow-wrap:anywhere}}
.warn{{list-style:none;padding:0}}.warn>li{{border-left:3px solid var(--warn);padding-left:12px;margin-bottom:12px}}
.warn b{{color:var(--warn)}}
details{{margin-top:12px}}summary{{cursor:pointer;color:var(--soft);font-size:13px}}details[open]>summary{{margin-bottom:10px}}
footer{{color:var(--soft);font-size:12.5px;padding:4px 6px}}
.unseen{{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}}
@media (max-width:620px){{main{{padding:12px 10px 32px}}header,section{{padding:16px 14px}}h1{{font-size:19px}}
 .facts{{grid-template-columns:1fr;gap:0}}.facts dd{{margin-bottom:8px}}}}
@media print{{body{{background:#fff;font-size:12px}}main{{max-width:none;padding:0}}
 header,section{{border-color:#ccc;break-inside:avoid-page}}section.long{{break-inside:auto}}pre,tr{{break-inside:avoid}}
 .draw,.wide{{overflow:visible}}.chart{{min-width:0}}*{{print-color-adjust:exact;-webkit-print-color-adjust:exact}}}}
"""

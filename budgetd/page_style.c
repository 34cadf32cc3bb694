/* SPDX-License-Identifier: GPL-2.0-or-later
 * page_style.c - how the page looks, light and dark, on a screen and on a phone; and its icon (page.h). */
#include "budgetd/page.h"
#include <string.h>

static const char style[] =
	":root{color-scheme:light dark;--ink:#1b1f24;--quiet:#57606a;--ground:#fff;--soft:#f3f5f7;--rule:#d0d7de;--link:#0550ae;\n"
	"--charged:#57606a;--held:#b7791f;--left:#1a7f5a;--funded:#1f6feb;--free:#9aa7b4;--mark:#cf222e;--waits:#d9dee3}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--quiet:#9da7b1;--ground:#12161b;--soft:#1b2127;--rule:#39424b;\n"
	"--link:#79b8ff;--charged:#8b949e;--held:#d8a04a;--left:#3fb68b;--funded:#58a6ff;--free:#6a7682;--mark:#ff7b72;--waits:#2d353d}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0;font:1rem/1.45 system-ui,sans-serif;color:var(--ink);background:var(--ground)}\n"
	"a{color:var(--link)}\n"
	":focus-visible{outline:3px solid var(--link);outline-offset:2px}\n"
	".skip{position:absolute;left:-999em}.skip:focus{left:1em;top:1em;background:var(--ground);padding:.5em;z-index:1}\n"
	"header{display:flex;flex-wrap:wrap;gap:.4em 1.5em;align-items:center;padding:.6em 1em;background:var(--soft);\n"
	"border-bottom:1px solid var(--rule)}\n"
	"header .who{margin-left:auto;color:var(--quiet)}\n"
	"nav ul{display:flex;flex-wrap:wrap;gap:1em;list-style:none;margin:0;padding:0}\n"
	"nav a[aria-current]{font-weight:600;color:var(--ink)}\n"
	"form{display:flex;gap:.4em;align-items:center}\n"
	"input,button{font:inherit;color:inherit;background:var(--ground);border:1px solid var(--quiet);border-radius:4px;padding:.15em .5em}\n"
	"input{width:8em}\n"
	"main{padding:0 1em 3em;max-width:90rem}\n"
	"h1{font-size:1.5rem;margin:1rem 0 .5rem}h2{font-size:1.15rem;margin:1.6rem 0 .4rem}\n"
	"footer{padding:1em;color:var(--quiet);border-top:1px solid var(--rule);font-size:.9rem}\n"
	".scroll{overflow-x:auto;border:1px solid var(--rule);border-radius:6px}\n"
	"table{border-collapse:collapse;width:100%;font-size:.92rem}\n"
	"caption{text-align:left;padding:.5em .7em;color:var(--quiet);position:sticky;left:0;max-width:calc(100vw - 2.4em)}\n"
	"th,td{padding:.3em .7em;text-align:left;border-top:1px solid var(--rule);white-space:nowrap;vertical-align:middle}\n"
	"thead th{background:var(--soft);font-weight:600}\n"
	"td.text{white-space:normal;min-width:16em}\n"
	".number{text-align:right;font-variant-numeric:tabular-nums}\n"
	"tbody th{font-weight:600;background:var(--ground)}\n"
	".user th{font-weight:400;font-style:italic}\n"
	".d1 th{padding-left:2em}.d2 th{padding-left:3.3em}.d3 th{padding-left:4.6em}.d4 th{padding-left:5.9em}.d5 th{padding-left:7.2em}\n"
	".over{color:var(--mark);font-weight:600}.quiet{color:var(--quiet)}\n"
	"dl{display:grid;grid-template-columns:max-content 1fr;gap:.2em 1em;margin:.5em 0}dt{color:var(--quiet)}dd{margin:0}\n"
	"svg{vertical-align:middle}svg.wide{max-width:100%;height:auto;display:block;margin:.5em 0}\n"
	"svg text{fill:var(--ink);font-size:12px}\n"
	".key{display:inline-block;margin-right:1.2em}\n"
	".charged{fill:var(--charged)}.held{fill:var(--held)}.left{fill:var(--left)}.funded{fill:var(--funded)}.free{fill:var(--free)}\n"
	".waits{fill:var(--waits)}.mark{fill:var(--mark)}.ground{fill:var(--soft)}.protected{fill:var(--left)}\n"
	"path.rule{stroke:var(--rule)}path.line{stroke:var(--quiet)}path.marked{stroke:var(--mark);stroke-width:2}\n"
	"path.a{stroke:var(--funded);stroke-width:2}path.b{stroke:var(--held);stroke-width:2;stroke-dasharray:6 4}\n"
	"path.c{stroke:var(--left);stroke-width:2;stroke-dasharray:2 3}\n"
	"@media(max-width:40rem){main{padding:0 .6em 2em}th,td{padding:.3em .45em}header .who{margin-left:0}\n"
	"tbody th{position:sticky;left:0;max-width:45vw;overflow:hidden;text-overflow:ellipsis}dl{grid-template-columns:1fr}dd{margin:0 0 .4em}}\n"
	"@media print{header nav,header form,.skip{display:none}.scroll{overflow:visible;border:0}}\n";

static const char icon[] =
	"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\"><rect width=\"16\" height=\"16\" rx=\"3\" fill=\"#1f6feb\"/>"
	"<path d=\"M3 12V7M8 12V3M13 12V9\" stroke=\"#fff\" stroke-width=\"3\"/></svg>\n";

static const struct page_file files[] = {
	{ "/page.css", "text/css; charset=utf-8", style },
	{ "/icon.svg", "image/svg+xml", icon },
	{ "/robots.txt", "text/plain; charset=utf-8", "User-agent: *\nDisallow: /\n" },
};

const struct page_file *page_file_find(const char *path)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (strcmp(files[i].path, path) == 0)
			return &files[i];
	return NULL;
}

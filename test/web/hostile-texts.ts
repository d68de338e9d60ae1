// Texts that try to run code (they set `pwned` or open a dialog) or to load something (their addresses contain `evil`).

const run = 'pwned=1;alert(1)'
const address = 'https://evil.example/pixel.png'

const html = [
  `<script>${run}</script>`,
  `<ScRiPt>${run}</sCrIpT>`,
  `<script src="${address}"></script>`,
  `<img src=x-evil onerror="${run}">`,
  `<img src="${address}">`,
  `<img src="/evil.png" srcset="/evil-2.png 2x" loading="eager">`,
  `<image src=x-evil onerror=${run}>`,
  `<picture><source srcset="${address}"><img src="${address}"></picture>`,
  `<body onload="${run}">`,
  `<details open ontoggle="${run}"><summary>x</summary></details>`,
  `<input autofocus onfocus="${run}">`,
  `<video autoplay poster="${address}"><source onerror="${run}" src="${address}"></video>`,
  `<audio src="${address}" autoplay onerror="${run}"></audio>`,
  `<iframe src="javascript:${run}"></iframe>`,
  `<iframe srcdoc="<script>parent.${run}</script>"></iframe>`,
  `<object data="${address}"><embed src="${address}"></object>`,
  `<link rel="stylesheet" href="${address}"><link rel="prefetch" href="${address}"><link rel="dns-prefetch" href="//evil.example">`,
  `<meta http-equiv="refresh" content="0;url=javascript:${run}">`,
  `<base href="https://evil.example/">`,
  `<form action="${address}"><button formaction="javascript:${run}" autofocus>Approve</button></form>`,
  `<style>@import url("${address}"); * { background: url("${address}") }</style>`,
  `<div style="background-image: url('${address}'); position: fixed; inset: 0">covers the page</div>`,
  `<table background="${address}"><td background="${address}">`,
  `<marquee onstart="${run}">x</marquee>`,
  `<div onpointerover="${run}" onanimationstart="${run}" class="dialog spin" id="app">x</div>`,
  `<dialog open><h2>Access token</h2><input type="password"></dialog>`,
  `<a href="javascript:${run}" target="_self">link</a>`,
  `<math><mtext></p><img src=x-evil onerror="${run}"></mtext></math>`,
  `<!--><img src=x-evil onerror="${run}">-->`,
  `<noscript><p title="</noscript><img src=x-evil onerror='${run}'>">`,
  `<template><script>${run}</script></template>`,
  `<slot><img src=x-evil onerror="${run}"></slot>`,
  `<a id="page"></a><a id="page" name="http" href="clobbered"></a><form name="body"><input name="ownerDocument"></form>`,
]

const svg = [
  `<svg onload="${run}">`,
  `<svg><script>${run}</script></svg>`,
  `<svg><animate onbegin="${run}" attributeName="x" dur="1s"></svg>`,
  `<svg><a xlink:href="javascript:${run}"><text y="20">x</text></a></svg>`,
  `<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><script>${run}</script></svg>#x"></use></svg>`,
  `<svg><image href="${address}"></image><feImage href="${address}"/></svg>`,
  `<svg><foreignObject><iframe srcdoc="<script>parent.${run}</script>"></iframe></foreignObject></svg>`,
  `<math href="javascript:${run}">x</math>`,
  `<math><maction actiontype="statusline#http://evil.example" xlink:href="javascript:${run}">x</maction></math>`,
]

/** What a parser makes of them when their HTML is parsed a second time. */
const mutation = [
  `<svg></p><style><a id="</style><img src=x-evil onerror=${run}>">`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x-evil onerror=${run}&gt;">`,
  `<form><math><mtext></form><form><mglyph><style></math><img src=x-evil onerror=${run}>`,
  `<svg><style>&lt;img src=x-evil onerror=${run}&gt;</style></svg>`,
  `<xmp><p title="</xmp><img src=x-evil onerror=${run}>">`,
  `<textarea><img title="</textarea><img src=x-evil onerror=${run}>"></textarea>`,
  `<select><style></select><img src=x-evil onerror=${run}></style></select>`,
  `<option><style></option></select><b><img src=x-evil onerror=${run}></style></option>`,
  `${'<div>'.repeat(600)}<img src=x-evil onerror=${run}>`,
]

const markdown = [
  `[link](javascript:${run})`,
  `[link](JaVaScRiPt:${run})`,
  `[link](java&#115;cript:${run})`,
  `[link](java\tscript:${run})`,
  `[link](&#x6A;avascript:${run} "title")`,
  `[link](\u0001javascript:${run})`,
  `[link](vbscript:msgbox(1))`,
  `[link](data:text/html,<script>${run}</script>)`,
  `[link](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)`,
  `[link](blob:https://evil.example/1)`,
  `[link](file:///etc/passwd)`,
  `[a](<javascript:${run}>)`,
  `[ref]\n\n[ref]: javascript:${run}`,
  `![pixel](${address})`,
  `![pixel](/evil.png)`,
  `![pixel](//evil.example/x.png "title\\" onerror=\\"${run}")`,
  `![a](data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='${run}'/>)`,
  `![ref-image]\n\n[ref-image]: ${address}`,
  `[![nested](${address})](javascript:${run})`,
  `<javascript:${run}>`,
  `<https://evil.example/"onmouseover="${run}>`,
  `https://evil.example/"onmouseover="${run}"`,
  `[" onmouseover="${run}](https://evil.example/ "x\\" onmouseover=\\"${run}")`,
  '```html"><img src=x-evil onerror=alert(1)>\n<script>alert(1)</script>\n```',
  `\`<img src=x-evil onerror="${run}">\``,
  `| a |\n|---|\n| <img src=x-evil onerror="${run}"> |`,
  `> - 1. <svg onload="${run}">`,
  `# <img src=x-evil onerror="${run}">`,
  `**bold <a href="javascript:${run}">not *closed`,
  `[x]: ${address}\n\n![x][x] ![x][] ![x]`,
  `- [ ] <input onfocus="${run}" autofocus>`,
  `text[^1]\n\n[^1]: <script>${run}</script>`,
]

const others = [
  `{{constructor.constructor('${run}')()}} \${${run}} <%= ${run} %> #{${run}} [[${run}]]`,
  `\u202Egnp.exe\u202C \u2066${run}\u2069 a\u0300\u0301\u0302\u0303\u0304\u0305 \uFEFF\u200B`,
  `＜script＞${run}＜/script＞ \u003cscript\u003e${run}\u003c/script\u003e %3Cscript%3E${run}%3C/script%3E`,
  `&lt;img src=x-evil onerror=${run}&gt; &#60;script&#62;${run}&#60;/script&#62;`,
  `\uD800 lone surrogate \uDFFF <scr\0ipt>${run}</scr\0ipt>`,
  `"><img src=x-evil onerror="${run}"> ' onfocus='${run}' autofocus x='`,
  `</textarea></title></style></script><svg/onload=${run}>`,
  `javascript:${run}//`,
  `__proto__ constructor prototype toString`,
  `\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007 \u001b[2J\u001b[31mred`,
  `${'a'.repeat(5_000)}<img src=x-evil onerror="${run}">`,
  `${'*'.repeat(2_000)}${'['.repeat(2_000)}${'>'.repeat(200)}${'`'.repeat(501)}`,
]

export const hostileTexts: readonly string[] = [...html, ...svg, ...mutation, ...markdown, ...others]

/** One that is short enough for a name. */
export const hostileName = `"><img src=x-evil onerror="${run}">`

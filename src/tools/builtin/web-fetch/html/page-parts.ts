/** Whether whoever wrote the page keeps an element from its readers. */
export function isHidden(attributes: ReadonlyMap<string, string>): boolean {
  if (attributes.size === 0) return false
  const hidden = attributes.get('hidden')
  if (hidden !== undefined && hidden !== 'until-found') return true
  if (attributes.get('aria-hidden')?.trim() === 'true') return true
  const style = attributes.get('style')
  return style !== undefined && /(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]))/i.test(style)
}

/** The language of code, as most pages write it. */
export const languageOf = (attributes: ReadonlyMap<string, string>): string =>
  /(?:^|\s)(?:language|lang|highlight-source)-([\w+#-]{1,20})(?:\s|$)/.exec(attributes.get('class') ?? '')?.[1] ?? ''

/** Of backticks; a fence must be longer, within reason. */
export function longestRun(text: string): number {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return Math.min(longest, 100)
}

/** The first number of a list. */
export function startOf(attributes: ReadonlyMap<string, string>): number {
  const start = Number(attributes.get('start') ?? 1)
  return Number.isSafeInteger(start) && Math.abs(start) < 1e9 ? start : 1
}

/** Without what no reader sees: control characters, and letters that only say something to machines. */
export function readable(text: string): string {
  return (
    text
      .replaceAll('\u00a0', ' ')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u{e0000}-\u{e007f}]/gu, '')
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim()
  )
}

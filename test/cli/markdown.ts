/** What reference pages are made with. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

export function page(sections: readonly (readonly string[])[]): string {
  return `${sections.map((section) => section.join('\n\n')).join('\n\n')}\n`
}

export const code = (text: string): string => `\`${text}\``

export const made =
  '<!-- Made from the options of the code by test/cli/reference.test.ts; to make it anew: TROUPE_WRITE=1 npx vitest run test/cli/reference.test.ts -->'

/** The text for a name; a name without one stops the making of the page. */
export function textOf(texts: { readonly [name: string]: string }, name: string): string {
  const text = texts[name]
  if (text === undefined) throw new Error(`The reference has no words for ${name}.`)
  return text
}

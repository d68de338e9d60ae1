// Links that are defined at one place of a text and used anywhere in it: `[1]: https://example.org "Title"`.

/** Nothing else: the parser would show it as text. */
const definition =
  /^ {0,3}\[(?!\s*\])([^[\]\\\n]{1,200})\]: +(?:<[^<>\n]{1,500}>|(?!<)(?:[^\s()]|\([^\s()]{0,500}\)){1,2000})(?: +(?:"[^"\\\n]{0,500}"|'[^'\\\n]{0,500}'|\([^()\\\n]{0,500}\)))? *$/gm
const reference = /\[([^[\]\n]{1,200})\]/g
const nameOf = (label: string): string => label.trim().replaceAll(/\s+/g, ' ').toLowerCase()

export type Definitions = ReadonlyMap<string, string>

/** The first one of a name is used. `known`: those of an earlier state of the text, which are returned if they are the same. */
export function definitionsIn(text: string, known?: Definitions): Definitions {
  const found = new Map([...text.matchAll(definition)].toReversed().map(([line, label = '']) => [nameOf(label), line]))
  return known?.size === found.size && [...found].every(([name, line]) => known.get(name) === line) ? known : found
}

/** A block after the definitions that it uses. All of them in each block would be too many. */
export function withDefinitions(block: string, definitions: Definitions): string {
  if (definitions.size === 0 || !block.includes('[')) return block
  const text = block.replaceAll(definition, '')
  const used = new Set([...text.matchAll(reference)].flatMap(([, label = '']) => definitions.get(nameOf(label)) ?? []))
  return used.size === 0 ? block : `${[...used].join('\n')}\n\n${block}`
}

export const isDefinition = (line: string): boolean => line.search(definition) === 0

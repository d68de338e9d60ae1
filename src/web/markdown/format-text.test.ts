import { expect, test } from 'vitest'
import { type FormattedText, formatText } from './format-text.ts'
import { whenTime } from './work-budget.ts'

/** Formats until nothing waits for time, as the page does. */
async function formatAll(
  text: string,
  options: Partial<Parameters<typeof formatText>[1]> = {},
  known?: FormattedText,
): Promise<FormattedText> {
  for (let last = known; ; ) {
    last = formatText(text, { isOpen: false, maxTags: 1_000, sanitise: (html) => html, ...options }, last)
    if (last.state !== 'waits') return last
    await new Promise<void>(whenTime)
  }
}

const htmlOf = ({ blocks }: FormattedText): readonly (string | undefined)[] => blocks.map(({ html }) => html?.trim())

test('a text that grows formats its last block only', async () => {
  const text = Array.from({ length: 50 }, (_, index) => `Paragraph **${index}** of [a].\n\n`).join('')
  const seen: string[] = []
  const sanitise = (html: string): string => `${seen.push(html) && html}`
  let known: FormattedText | undefined
  for (let end = 5; end < text.length; end += 5) known = await formatAll(text.slice(0, end), { isOpen: true, sanitise }, known)
  known = await formatAll(text, { sanitise }, known)
  expect(htmlOf(known)).toHaveLength(50)
  expect(seen.length).toBeLessThan(text.length / 5 + 2 * 50)
  // A definition changes those that use it.
  known = await formatAll(`${text}[a]: https://example.org`, {}, known)
  expect(htmlOf(known)[0]).toContain('<a href="https://example.org/"')
})

test('a text with too many tags, or too many characters, has a rest', async () => {
  const many = await formatAll('a\n\n'.repeat(2_000))
  expect(many).toMatchObject({ state: 'cut', rest: 'a\n\n'.repeat(2_000 - many.blocks.length) })
  expect(many.blocks.length).toBeLessThan(1_000)
  const more = await formatAll('a\n\n'.repeat(2_000), { maxTags: 2_000 }, many)
  expect(more.blocks.length).toBeGreaterThan(many.blocks.length)
  const long = await formatAll(`${'a'.repeat(1_000)}\n\n`.repeat(250))
  expect(long.state).toBe('long')
  expect(long.rest).toHaveLength(250 * 1_002 - long.blocks.length * 1_002)
})

test('a block that is too costly is plain text between the others', async () => {
  const wide = `|[1]|${'a|'.repeat(1_500)}\n|${'-|'.repeat(1_500)}\n${'|x\n'.repeat(1_500)}`
  const { blocks, state } = await formatAll(`One\n\n${wide}\n\nTwo\n\n[1]: https://example.org`)
  expect(blocks.map(({ html }) => html?.trim())).toEqual(['<p>One</p>', undefined, '<p>Two</p>', ''])
  expect(blocks[1]?.of.own.trim()).toBe(wide.trim())
  expect(state).toBe('complete')
})

test('an answer with 100 references at its end is formatted as a whole, without them', async () => {
  const numbers = Array.from({ length: 100 }, (_, index) => index + 1)
  const definitions = numbers.map((each) => `[${each}]: https://example.org/${'a_page/'.repeat(12)}${each} "Title ${each}"`)
  const known = await formatAll(`${numbers.map((each) => `Fact **${each}** [${each}].\n\n`).join('')}${definitions.join('\n')}`)
  const html = htmlOf(known)
  expect(html).toHaveLength(101)
  expect(html.at(-1)).toBe('')
  expect(html.slice(0, -1).every((each, index) => each?.endsWith(`>${index + 1}</a>.</p>`))).toBe(true)
  expect(known.state).toBe('complete')
})

import { type SkillCard, skillScopes } from '../../contracts/index.ts'
import { isPairAt } from '../../util/fit-text.ts'
import { oneLine } from '../../util/one-line.ts'
import { plural } from '../../util/plural.ts'

/** The list of skills in a prompt. */
export interface SkillCatalogue {
  /** Empty without skills. */
  readonly text: string
  /** What was shortened or omitted. */
  readonly notice?: string
}

/** The part of the context window that the list may take. */
const share = 0.02
const charactersPerToken = 4
const defaultMaxChars = 8_000
/** A shorter description is useless. */
const shortestDescription = 24

const head = [
  '# Skills',
  'Instructions for particular kinds of work. If one fits, load it with `load_skill` before you begin. A skill grants no permissions.',
].join('\n')

/** The list of skills for the prompt. The same skills and window give the same text. */
export function skillCatalogue(skills: readonly SkillCard[], { windowTokens }: { readonly windowTokens?: number } = {}): SkillCatalogue {
  if (skills.length === 0) return { text: '' }
  const room = windowTokens === undefined ? defaultMaxChars : Math.floor(windowTokens * share * charactersPerToken)
  const entries = skills.map((card) => ({ ...card, description: oneLine(card.description) })).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const full = listing(entries, Number.POSITIVE_INFINITY)
  if (full.length <= room) return { text: full }
  const longest = longestThatFits(entries, room)
  if (longest >= shortestDescription) {
    const cut = entries.filter(({ description }) => description.length > longest).length
    const notice = `The descriptions of ${cut} of ${entries.length} skills were shortened to ${longest} characters to fit.`
    return { text: listing(entries, longest), notice }
  }
  const names = listing(entries, 0)
  if (names.length <= room) return { text: names, notice: `${plural(entries.length, 'skill')} are listed without descriptions to fit.` }
  return withoutSome(entries, room)
}

type Entry = Pick<SkillCard, 'name' | 'description' | 'scope'>

function listing(entries: readonly Entry[], longest: number, leftOut = 0): string {
  const lines = entries.map(({ name, description }) => (longest === 0 ? `- ${name}` : `- ${name}: ${shortened(description, longest)}`))
  const more = leftOut === 0 ? [] : [`${leftOut} more are not listed.`]
  return [head, ...lines, ...more].join('\n')
}

function longestThatFits(entries: readonly Entry[], room: number): number {
  const frame = listing(entries, 0).length + 2 * entries.length
  const fits = (longest: number): boolean =>
    frame + entries.reduce((sum, { description }) => sum + shortened(description, longest).length, 0) <= room
  let [least, most] = [0, 1_024]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (fits(middle)) least = middle
    else most = middle - 1
  }
  return least
}

/** Omits skills of the farthest scope first, and of those the last by name. */
function withoutSome(entries: readonly Entry[], room: number): SkillCatalogue {
  const nearest = entries.toSorted((a, b) => skillScopes.indexOf(a.scope) - skillScopes.indexOf(b.scope))
  const kept = new Set<Entry>()
  let left = room - listing([], 0, entries.length).length
  for (const entry of nearest) {
    left -= entry.name.length + 3
    if (left < 0) break
    kept.add(entry)
  }
  const leftOut = entries.filter((entry) => !kept.has(entry))
  const some = leftOut.slice(0, 10).map(({ name }) => name)
  const notice = `${plural(leftOut.length, 'skill')} are not listed because the list is too long: ${some.join(', ')}${leftOut.length > some.length ? ', …' : ''}.`
  if (kept.size === 0) return { text: '', notice }
  return {
    text: listing(
      entries.filter((entry) => kept.has(entry)),
      0,
      leftOut.length,
    ),
    notice,
  }
}

function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text
  const end = isPairAt(text, longest - 2) ? longest - 2 : longest - 1
  return `${text.slice(0, end).trimEnd()}…`
}

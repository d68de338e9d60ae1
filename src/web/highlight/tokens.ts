import { type Language, languageNamed, type TokenKind } from './languages.ts'

// 1. The texts of all tokens together are the code: nothing is lost, whatever the code is.
// 2. The time is proportional to the length of the code.

export interface Token {
  /** Absent: it has no colour. */
  readonly kind?: TokenKind
  readonly text: string
}

/** More would take the browser long to draw. What follows has no colours. */
const maxCharacters = 60_000
const maxTokens = 4_000

/** `undefined`: the language is not known. */
export function tokensOf(code: string, name: string): readonly Token[] | undefined {
  const language = languageNamed(name)
  if (!language) return undefined
  const pattern = patternOf(language)
  const tokens: Token[] = []
  let plainFrom = 0
  pattern.lastIndex = 0
  for (let match = pattern.exec(code); match; match = pattern.exec(code)) {
    const [text] = match
    const end = match.index + text.length
    const kind = kindOf(match, language, code)
    if (kind === undefined) continue
    if (match.index > plainFrom) tokens.push({ text: code.slice(plainFrom, match.index) })
    tokens.push({ kind, text })
    plainFrom = end
    if (end > maxCharacters || tokens.length > maxTokens) break
  }
  if (plainFrom < code.length) tokens.push({ text: code.slice(plainFrom) })
  return tokens
}

const patterns = new Map<Language, RegExp>()

/** All rules in one pattern: the number of the group is that of the rule. Words are the last group. */
function patternOf(language: Language): RegExp {
  const known = patterns.get(language)
  if (known) return known
  const all = [...language.rules.map(([, rule]) => rule), language.word]
  // `m`: only rules with `^` see a difference, except for `$`, which ends a text here.
  const sources = all.map(({ source }) => `(${source.replaceAll('|$)', '|(?![\\s\\S]))')})`)
  const flags = new Set(['g', ...all.flatMap((rule) => [...rule.flags])])
  const pattern = new RegExp(sources.join('|'), [...flags].join(''))
  patterns.set(language, pattern)
  return pattern
}

function kindOf(match: RegExpExecArray, language: Language, code: string): TokenKind | undefined {
  const { rules, before = {}, hasKeys } = language
  const at = match.findIndex((text, group) => group > 0 && text !== undefined) - 1
  const following = (): TokenKind | undefined => before[nextCharacter(code, match.index + match[0].length)]
  const kind = rules[at]?.[0]
  if (kind !== undefined) return (kind === 'string' && hasKeys && following()) || kind
  return wordKind(match[0], language) ?? following() ?? typeKind(match[0], language)
}

function wordKind(word: string, { keywords, ignoresCase = false }: Language): TokenKind | undefined {
  return keywords.has(ignoresCase ? word.toLowerCase() : word) ? 'keyword' : undefined
}

const typeKind = (word: string, { hasTypes = false }: Language): TokenKind | undefined =>
  hasTypes && /^[A-Z]\w*[a-z]/.test(word.slice(0, 40)) ? 'name' : undefined

const furthest = 4

/** The next character that is no blank, if it is near. */
function nextCharacter(code: string, from: number): string {
  for (let at = from; at < from + furthest; at++) if (code[at] !== ' ') return code[at] ?? ''
  return ''
}

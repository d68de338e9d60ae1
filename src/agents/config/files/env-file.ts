import { type Problem, TroupeError } from '../../../contracts/index.ts'
import { variableName } from '../variables/placeholders.ts'
import { textOf } from './decode.ts'

export interface EnvVariable {
  readonly value: string
  readonly line: number
}

const maxLength = 262_144
const maxReported = 25

type Read = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly column: number; readonly message: string }

/**
 * Reads a `.env` file: `KEY=VALUE`, `KEY="VALUE"` with `\n`, `\"` and `\\`, `KEY='VALUE'` as it is, `export` before any of
 * them, empty lines and `#` comments. Nothing is expanded. Throws `config_invalid` with everything that is wrong; lines
 * are not shown, since any of them may be a secret.
 */
export function parseEnv(content: string | Uint8Array, file: string): ReadonlyMap<string, EnvVariable> {
  const variables = new Map<string, EnvVariable>()
  const problems: Problem[] = []
  const decoded = textOf(content, maxLength)
  if (!decoded.ok) problems.push({ place: `${file}:1:1`, message: decoded.message, remedy: decoded.remedy })
  for (const [index, line] of (decoded.ok ? decoded.text : '').split('\n').entries()) {
    const number = index + 1
    const tell = (column: number, message: string, remedy = 'Write it like `KEY=VALUE` or `KEY="VALUE"`.'): void =>
      void problems.push({ place: `${file}:${number}:${column}`, message, remedy })
    const begin = line.search(/\S/)
    if (begin === -1 || line[begin] === '#') continue
    const nameAt = begin + (/^export\s+/.exec(line.slice(begin))?.[0].length ?? 0)
    const equals = line.indexOf('=', nameAt)
    const name = line.slice(nameAt, equals).trimEnd()
    if (equals === -1) tell(begin + 1, 'a line must be `KEY=VALUE`')
    else if (!variableName.test(name))
      tell(nameAt + 1, 'this is no name of a variable', 'A name has letters, digits and `_`, and does not begin with a digit.')
    else if (variables.has(name))
      tell(nameAt + 1, `\`${name}\` is given twice, first in line ${variables.get(name)?.line}`, 'Remove one of them.')
    else {
      const read = readValue(line.slice(equals + 1))
      if (read.ok) variables.set(name, { value: read.value, line: number })
      else tell(equals + 1 + read.column, `\`${name}\`: ${read.message}`)
    }
  }
  if (problems.length === 0) return variables
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  throw new TroupeError('config_invalid', `the variables in ${file} have ${count}`, { problems: problems.slice(0, maxReported) })
}

/** `#` begins a comment only behind a space, so that colours and fragments of addresses stay whole. */
function readValue(behindEquals: string): Read {
  const written = behindEquals.trimStart()
  const skipped = behindEquals.length - written.length
  const quote = written[0]
  if (quote !== '"' && quote !== "'") return { ok: true, value: behindEquals.replace(/\s#.*$/, '').trim() }
  const [all, inside = ''] = (quote === '"' ? /^"((?:[^"\\]|\\.)*)"/ : /^'([^']*)'/).exec(written) ?? []
  if (all === undefined) return { ok: false, column: skipped + 1, message: 'the quotation mark is never closed' }
  if (!/^\s*(?:\s#.*)?$/.test(written.slice(all.length)))
    return { ok: false, column: skipped + all.length + 1, message: 'something stands behind the closing quotation mark' }
  if (quote === "'") return { ok: true, value: inside }
  const wrong = /^(?:[^\\]|\\[n"\\])*/.exec(inside)?.[0].length ?? 0
  if (wrong === inside.length) return { ok: true, value: inside.replace(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter) }
  const unknown = inside.slice(wrong, wrong + 2)
  return { ok: false, column: skipped + wrong + 2, message: `there is no \`${unknown}\`: only \`\\n\`, \`\\"\` and \`\\\\\`` }
}

const escapes: { readonly [letter: string]: string } = { n: '\n', '"': '"', '\\': '\\' }

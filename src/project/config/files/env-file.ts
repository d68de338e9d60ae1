import { variableName } from '../../../policy/placeholders.ts'
import { SourceText } from '../../../yaml/source-text.ts'
import { decodeText } from '../../values/decode-text.ts'
import { maxConfigLength } from './json-source.ts'

export interface EnvVariable {
  readonly value: string
  readonly line: number
}

type ReadVariable =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly column: number; readonly message: string }

/**
 * Reads a `.env` file: `KEY=VALUE`, `KEY="VALUE"` with `\n`, `\"` and `\\`, `KEY='VALUE'` without escapes, each with an
 * optional `export`; empty lines and `#` comments. Expands nothing. Throws `config_invalid` with all problems, which show
 * no lines, because any line may be a secret.
 */
export function parseEnv(content: string | Uint8Array, file: string): ReadonlyMap<string, EnvVariable> {
  const variables = new Map<string, EnvVariable>()
  const decoded = decodeText(content, file, maxConfigLength)
  const source = new SourceText(decoded.ok ? decoded.text : '', file)
  if (!decoded.ok) source.addProblem({ place: decoded.place, message: decoded.message, remedy: decoded.remedy })
  for (const [index, line] of source.lines.entries()) {
    const number = index + 1
    const report = (column: number, message: string, remedy = 'Write it like `KEY=VALUE` or `KEY="VALUE"`.'): void =>
      source.problemWithoutLine({ line: number, column }, message, remedy)
    const begin = line.search(/\S/)
    if (begin === -1 || line[begin] === '#') continue
    const nameAt = begin + (/^export\s+/.exec(line.slice(begin))?.[0].length ?? 0)
    const equals = line.indexOf('=', nameAt)
    const name = line.slice(nameAt, equals).trimEnd()
    if (equals === -1) report(begin + 1, 'a line must be `KEY=VALUE`')
    else if (!variableName.test(name))
      report(nameAt + 1, 'this is not a valid variable name', 'Use letters, digits and `_`; do not begin with a digit.')
    else if (variables.has(name))
      report(nameAt + 1, `\`${name}\` is set twice, first in line ${variables.get(name)?.line}`, 'Remove one of them.')
    else {
      const read = readVariable(line.slice(equals + 1))
      if (read.ok) variables.set(name, { value: read.value, line: number })
      else report(equals + 1 + read.column, `\`${name}\`: ${read.message}`)
    }
  }
  source.throwIfProblems('config_invalid', 'the file')
  return variables
}

/** `#` begins a comment only after a space, so that colours and fragments of addresses stay whole. */
function readVariable(afterEquals: string): ReadVariable {
  const written = afterEquals.trimStart()
  const skipped = afterEquals.length - written.length
  const quote = written[0]
  if (quote !== '"' && quote !== "'") return { ok: true, value: afterEquals.replace(/\s#.*$/, '').trim() }
  const [all, inside = ''] = (quote === '"' ? /^"((?:[^"\\]|\\.)*)"/ : /^'([^']*)'/).exec(written) ?? []
  if (all === undefined) return { ok: false, column: skipped + 1, message: 'the quote is never closed' }
  if (!/^\s*(?:\s#.*)?$/.test(written.slice(all.length)))
    return { ok: false, column: skipped + all.length + 1, message: 'text follows the closing quote' }
  if (quote === "'") return { ok: true, value: inside }
  const wrong = /^(?:[^\\]|\\[n"\\])*/.exec(inside)?.[0].length ?? 0
  if (wrong === inside.length) return { ok: true, value: inside.replace(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter)) }
  const unknown = inside.slice(wrong, wrong + 2)
  return { ok: false, column: skipped + wrong + 2, message: `unknown escape \`${unknown}\`; only \`\\n\`, \`\\"\` and \`\\\\\` are known` }
}

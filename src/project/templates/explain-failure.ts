import type { Problem } from '../../contracts/index.ts'
import { didYouMean, listNames } from '../../yaml/messages.ts'
import type { TemplateText } from './includes.ts'

interface Explaining {
  readonly texts: ReadonlyMap<string, TemplateText>
  /** Dotted names of all variables. */
  readonly known: readonly string[]
  /** The number of characters inserted before the first line. */
  shiftOf(name: string): number
}

/** Turns a message of the engine into a problem with its place. */
export function explainFailure(message: string, { texts, known, shiftOf }: Explaining): Problem {
  const [head = ''] = message.split('\n', 1)
  const [, what = head, name = '', line = '1'] = /^(.*) \(in (.+):(\d+)\)$/.exec(head) ?? []
  const source = texts.get(name)
  if (!source) return { place: name, message: `the template fails: ${what}`, remedy: braceRemedy }
  const row = Number(line)
  const text = source.text.split('\n')[row - 1] ?? ''
  const marked = markedPart(message, { text, shift: row === 1 ? shiftOf(name) : 0 })
  const place = `${source.place}:${source.firstLine + row - 1}:${(marked?.column ?? 0) + 1}`
  return { place, ...inWords(what, marked?.text, known), line: text }
}

/** The underlined part of the line, in code points. */
function markedPart(
  message: string,
  { text, shift }: { readonly text: string; readonly shift: number },
): { readonly column: number; readonly text: string } | undefined {
  const [, spaces, marks] = /^ {5}i ( *)(\^+) /m.exec(message) ?? []
  if (spaces === undefined || marks === undefined) return undefined
  const letters = [...text]
  const from = Math.max(0, spaces.length - shift)
  return { column: letters.slice(0, from).join('').length, text: letters.slice(from, from + marks.length).join('') }
}

function inWords(what: string, part: string | undefined, known: readonly string[]): Pick<Problem, 'message' | 'remedy'> {
  if (what.startsWith('undefined value')) {
    const name = part?.trim() ?? ''
    const isName = /^\w+(?:\.\w+)*$/.test(name)
    return {
      message: isName ? `there is no \`${name}\`` : `there is no value${name === '' ? '' : ` for \`${name}\``}`,
      remedy: (isName ? didYouMean(name, known) : undefined) ?? `There are ${listNames(known)}.`,
    }
  }
  if (what.startsWith('engine ran out of fuel'))
    return { message: 'the template takes too many steps', remedy: 'Look for a loop with too many iterations.' }
  const [, included] = /^could not render include: error in "(.*)"$/.exec(what) ?? []
  if (included !== undefined) return { message: `the included \`${included}\` fails`, remedy: 'Fix that file.' }
  const [, filter] = /filter (\w+) is unknown/.exec(what) ?? []
  if (filter !== undefined)
    return { message: `there is no filter \`${filter}\``, remedy: 'Remove it, or use a filter from the template reference.' }
  return { message: `the template is invalid: ${what}`, remedy: braceRemedy }
}

const braceRemedy = 'Close every `{{` with `}}` and every `{%` with `%}`; put literal braces between `{% raw %}` and `{% endraw %}`.'

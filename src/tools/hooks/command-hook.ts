import { type HookPoint, maxHookOutputChars, type OutputView } from '../../contracts/index.ts'
import { parseJsonObject } from '../../util/json-values.ts'
import { showValue } from '../../util/show-value.ts'
import { type Answer, type HookPlace, placeOf, type Questions } from './hook-answer.ts'
import { lastLine, type ProgramEnd, runProgram } from './run-program.ts'

// A hook that is a program. It is started for each question, with one JSON document on its standard input:
//
//   {"version":1,"hook":"guard","on":"before_call","tool":"shell","input":{"command":"ls"}}
//   {"version":1,"hook":"guard","on":"after_call","tool":"shell","input":{…},"output":{"ok":true,"content":"…"}}
//   {"version":1,"hook":"guard","on":"after_call","tool":"shell","input":{…},"output":{"ok":false,"error":{…},"partial":"…"}}
//   {"version":1,"hook":"guard","on":"before_request","agent":"clerk","model":"openai/gpt-5-mini","size":1234}
//   {"version":1,"hook":"guard","on":"at_stop","agent":"clerk","text":"Done.","resumed":0}
//
// Each also has `"session":{"treeId":"…","sessionId":"…","agentPath":"root","principal":{…}}`. A long output is cut, and has `"cut":true`. Answers:
//
//   exit 0, no output            continue
//   exit 0, one JSON object      the verdict: {"kind":"continue"}, {"kind":"change","input":{…},"reason":"…"},
//                                {"kind":"block","reason":"…"}, {"kind":"context","text":"…"}, {"kind":"resume","reason":"…"}
//   exit 2                       no: standard error is the reason. Before a call it is blocked, at the stop the model continues,
//                                after a call the model gets the reason; before a request it is a failure
//   anything else                a failure: `onFailure` decides

export function commandAnswer(hook: string, command: readonly string[], { baseDir, environment, clock }: HookPlace): Answer {
  return async (point, view, context) => {
    const question = `${JSON.stringify({ version: 1, hook, on: point, ...shown(view), session: placeOf(context) })}\n`
    const end = await runProgram({ command, cwd: baseDir, environment, clock, signal: context.signal }, question)
    return verdictOf(point, end)
  }
}

function shown(view: Questions[HookPoint]['view']): object {
  return 'output' in view ? { ...view, output: shownOutput(view.output) } : view
}

/** A program sees of an output what the model sees. */
function shownOutput(output: OutputView): object {
  const text = output.ok ? output.content : output.partial
  const isCut = output.cut || (text?.length ?? 0) > maxHookOutputChars
  const shown = text?.slice(0, maxHookOutputChars)
  const told = output.ok ? { ok: true, content: shown } : { ok: false, error: output.error, partial: shown }
  return { ...told, ...(isCut && { cut: true }) }
}

function verdictOf<P extends HookPoint>(point: P, { code, signal, stdout, stderr }: ProgramEnd): Questions[P]['verdict'] {
  if (code === 2) return refusal(point, stderr.trim())
  if (code !== 0) throw new Error(`it exited with ${code === undefined ? signal : `code ${code}`}${lastLine(stderr)}`)
  if (stdout.trim() === '') return { kind: 'continue' }
  const verdict = parseJsonObject(stdout)
  if (!verdict) throw new Error(`it printed ${showValue(stdout.trim())}, expected one JSON object or nothing`)
  // The caller checks it.
  return verdict as unknown as Questions[P]['verdict']
}

function refusal<P extends HookPoint>(point: P, said: string): Questions[P]['verdict'] {
  const reason = said === '' ? 'no reason was given' : said
  switch (point) {
    case 'before_call':
      return { kind: 'block', reason } as Questions[P]['verdict']
    case 'after_call':
      return { kind: 'context', text: reason } as Questions[P]['verdict']
    case 'at_stop':
      return { kind: 'resume', reason } as Questions[P]['verdict']
    default:
      throw new Error(`it refused the request: ${reason}`)
  }
}

import { type JsonObject, maxHookOutputChars, type OutputView, type ToolExtras, type ToolOutput } from '../../contracts/index.ts'
import { plainJson } from '../../util/json-values.ts'
import type { Redactor } from '../../util/redact.ts'
import { textOfParts } from '../../util/text-of-parts.ts'
import { cutText } from '../../util/well-formed.ts'
import { redactFailure } from './call-output.ts'

/** A copy of the output for each hook. Redacts before it cuts, so that no part of a secret remains. */
export function outputViews(output: ToolOutput, redactor: Redactor): () => OutputView {
  const view = output.ok ? resultView(output, redactor) : failureView(output, redactor)
  const { extras } = output
  return () => {
    const own = view.ok ? { ...view } : { ...view, error: { ...view.error } }
    return extras ? withExtras(own, () => copyExtras(extras, redactor)) : own
  }
}

function resultView({ content, parts }: Extract<ToolOutput, { ok: true }>, redactor: Redactor): OutputView {
  const { text, ...cut } = cutToLimit(redactor.text(content === '' && parts ? textOfParts(parts) : content))
  return { ok: true, content: text, ...cut }
}

function failureView({ error, partial }: Extract<ToolOutput, { ok: false }>, redactor: Redactor): OutputView {
  const failed = { ok: false, error: redactFailure(redactor, error) } as const
  if (partial === undefined) return failed
  const { text, ...cut } = cutToLimit(redactor.text(partial))
  return { ...failed, partial: text, ...cut }
}

const cutToLimit = (text: string): { readonly text: string; readonly cut?: true } =>
  text.length > maxHookOutputChars ? { text: cutText(text, maxHookOutputChars), cut: true } : { text }

/** Copied when read: they may be large, and few hooks use them. */
function withExtras(view: OutputView, copy: () => ToolExtras | undefined): OutputView {
  let made: { readonly extras: ToolExtras | undefined } | undefined
  return Object.defineProperty(view, 'extras', {
    enumerable: true,
    get: () => {
      made ??= { extras: copy() }
      return made.extras
    },
  })
}

function copyExtras(extras: ToolExtras, redactor: Redactor): ToolExtras | undefined {
  const plain = plainJson(extras)
  return plain && (redactor.json(plain) as JsonObject)
}

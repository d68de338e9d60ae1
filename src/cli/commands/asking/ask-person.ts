import type { ApprovalDecision, ApprovalRequest } from '../../../contracts/index.ts'
import type { NextLine } from '../../terminal/read-line.ts'
import { answerHint, parseDecision } from './answer-choices.ts'
import { type FormTerminal, fillForm } from './form-answer.ts'

/** Reads lines until one decides the request, or there are no more. The request is shown already. */
export async function askPerson(
  request: ApprovalRequest,
  terminal: FormTerminal,
): Promise<ApprovalDecision | Exclude<NextLine, { kind: 'line' }>> {
  for (;;) {
    const line = await terminal.read()
    if (line.kind !== 'line') return line
    const form = /^\s*y(?:es)?\s*$/i.test(line.text) ? request.question?.form : undefined
    const decided = form ? await fillForm(form, terminal) : parseDecision(line.text, request)
    if (decided) return decided
    await terminal.hint(answerHint(request))
  }
}

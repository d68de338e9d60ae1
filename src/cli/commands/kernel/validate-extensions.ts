import { TroupeError } from '../../../contracts/index.ts'
import {
  type Admission,
  type ExtensionAdmissions,
  extensionAdmissions,
  extensionData,
  type InspectedExtension,
  sandboxAt,
} from '../../../kernel/index.ts'
import { sessionPlace } from '../../../project/index.ts'
import { systemClock } from '../../../runtime/index.ts'
import { displaySentence } from '../../../util/as-sentence.ts'
import type { ExtensionsInvocation } from '../../arguments/kernel-invocations.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { safeJson } from '../../terminal/safe-json.ts'
import { errorDocument } from '../output/error-documents.ts'
import { problemLines } from './show-extension.ts'

/** `troupe extensions validate`: what the kernel checks before it loads an extension that nobody trusts. */
export async function validateExtensions(
  extensions: readonly InspectedExtension[],
  invocation: ExtensionsInvocation,
  host: Host,
): Promise<number> {
  const workspace = process.cwd()
  const { folder } = await sessionPlace(invocation, host)
  const dataFolder = extensionData(folder, workspace)
  const { validate } = extensionAdmissions({ sandbox: sandboxAt(host), clock: systemClock, workspace, dataFolder })
  const results = []
  /** The same for several, such as a missing sandbox, is printed once. */
  const printed = new Set<string>()
  for (const extension of extensions) {
    const { found } = extension
    const { problems, notices } = await check(extension, validate)
    results.push({ id: found.id, ok: problems.length === 0, problems, notices })
    if (invocation.output === 'json') continue
    await host.stdout.lines([
      `${problems.length === 0 ? 'ok  ' : 'FAIL'}  ${printable(found.id)}`,
      ...problems.flatMap(problemLines).map((line) => `      ${line}`),
      ...notices.filter((notice) => !printed.has(notice)).map((notice) => `      ${printable(notice)}`),
    ])
    for (const notice of notices) printed.add(notice)
  }
  const isValid = results.every(({ ok }) => ok)
  if (invocation.output === 'json') {
    if (isValid) await printDocument({ extensions: results }, host)
    else await host.stdout.line(safeJson(errorDocument(invalidError(results), { extensions: results })))
  }
  return (isValid ? exitCodes.done : exitCodes.usage).code
}

function invalidError(results: readonly { readonly id: string; readonly problems: Admission['problems'] }[]): TroupeError {
  const problems = results.flatMap((each) => each.problems)
  return new TroupeError('extension_failed', 'Some extensions are invalid.', { problems })
}

/** Problems of the manifest, of the order and of models need no code. That of bundled ones is part of Troupe. */
async function check(extension: InspectedExtension, validate: ExtensionAdmissions['validate']): Promise<Admission> {
  const { found, state, problems, errors, reported } = extension
  if (!found.manifest) return { problems, notices: [] }
  const admission = found.source === 'bundled' ? { problems: [], notices: [] } : await validate(found)
  // That is about trust, not about the extension.
  const warnings = (state === 'untrusted' ? found.problems : problems)
    .filter((problem) => !errors.includes(problem) && !reported.includes(problem))
    .map(({ message, remedy = '' }) => `${displaySentence(message)} ${remedy}`.trim())
  return { problems: [...errors, ...admission.problems], notices: [...warnings, ...admission.notices] }
}

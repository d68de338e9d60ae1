import { TroupeError } from '../../contracts/index.ts'
import { plural } from '../../util/plural.ts'
import { redactor } from '../../util/redact.ts'
import type { DoctorInvocation } from '../arguments/project-invocations.ts'
import { exitCodes } from '../terminal/exit-codes.ts'
import { printDocument } from '../terminal/print-messages.ts'
import { printable } from '../terminal/printable.ts'
import type { Host } from '../terminal/process-host.ts'
import { safeJson } from '../terminal/safe-json.ts'
import { type Check, runDoctorChecks } from './doctor-checks.ts'
import { errorDocument } from './output/error-documents.ts'

/** `troupe doctor`: finds problems of the setup and says how to fix them. */
export async function doctorCommand({ output, configFile }: DoctorInvocation, host: Host): Promise<number> {
  const { checks: found, secrets } = await runDoctorChecks(host, { configFile })
  const { text } = redactor(secrets)
  const checks = found.map((check): Check => ({ ...check, message: text(check.message), ...('fix' in check && { fix: text(check.fix) }) }))
  const hasFailed = checks.some(({ status }) => status === 'fail')
  const { code } = hasFailed ? exitCodes.failed : exitCodes.done
  if (output === 'json') {
    if (hasFailed) await host.stdout.line(safeJson(errorDocument(failedChecks(checks), { checks })))
    else await printDocument({ checks }, host)
  } else await host.stdout.prose(checks.flatMap(linesOf))
  return code
}

function failedChecks(checks: readonly Check[]): TroupeError {
  const problems = checks.flatMap((check) =>
    check.status === 'fail' ? [{ place: check.what, message: check.message, ...('fix' in check && { remedy: check.fix }) }] : [],
  )
  return new TroupeError('command_failed', `${plural(problems.length, 'check')} failed.`, { problems })
}

const marks: { readonly [Status in Check['status']]: string } = { ok: 'ok  ', info: '    ', warning: 'WARN', fail: 'FAIL' }

function linesOf(check: Check): readonly string[] {
  const { status, what, message } = check
  const line = `${marks[status]}  ${what}: ${printable(message)}`
  return 'fix' in check ? [line, `      → ${printable(check.fix)}`] : [line]
}

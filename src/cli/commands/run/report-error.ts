import type { OutputForm } from '../../terminal/display-options.ts'
import { exitCodeOfError } from '../../terminal/exit-codes.ts'
import type { troupeError } from '../../terminal/print-errors.ts'
import { type PrintTarget, printError } from '../../terminal/print-messages.ts'
import { safeJson } from '../../terminal/safe-json.ts'
import { errorDocument, runEndOfError } from '../output/error-documents.ts'

/** Prints an error in the requested output format, and returns the exit code. */
export async function reportError(
  error: ReturnType<typeof troupeError>,
  target: PrintTarget & { readonly output: OutputForm },
): Promise<number> {
  const { host, output } = target
  if (output === 'json') await host.stdout.line(safeJson(errorDocument(error)))
  if (output === 'stream-json') await host.stdout.line(safeJson(runEndOfError(error)))
  await printError(error, target)
  return exitCodeOfError(error)
}

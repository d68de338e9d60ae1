import { exitCodeOfError } from '../host/exit-codes.ts'
import type { OutputForm } from '../options/parse-arguments.ts'
import type { troupeError } from '../terminal/print-errors.ts'
import { type PrintTarget, printError } from '../terminal/print-messages.ts'
import { safeJson } from '../terminal/safe-json.ts'
import { errorDocument, runEndOfError } from './run-documents.ts'

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

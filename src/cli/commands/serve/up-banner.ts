import type { ExtensionStatus } from '../../../contracts/index.ts'
import { columns, columnsOn, type Row } from '../../terminal/columns.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { type BannerFacts, webAddress } from './serve-banner.ts'

/** Disabled ones are as the person wants them. */
const isMissing = ({ state }: ExtensionStatus): boolean => state !== 'running' && state !== 'disabled'

/** At the start of a conversation in the terminal: where the assistant is, what it consists of, and how to stop it. */
export function printUpBanner(
  { address, local }: BannerFacts,
  extensions: readonly ExtensionStatus[],
  { stderr, paint }: Host,
): Promise<void> {
  const running = extensions.filter(({ state }) => state === 'running').map(({ id }) => id)
  const rows = columns(
    [
      ['Web chat', webAddress({ address, local })],
      ['Running', running.join(', ') || 'no extensions'],
      ...extensions.filter(isMissing).map((each): Row => ['Not running', notRunning(each)]),
    ],
    { maxWidth: columnsOn(stderr) },
  )
  return stderr.lines([paint('bold', `Troupe runs at ${address.url}`), ...rows, paint('dim', 'Stop with Ctrl-C.'), ''])
}

function notRunning({ id, state, problems: [first] }: ExtensionStatus): string {
  return printable(`${id} (${state})${first ? `: ${first.message}` : ''}`)
}

import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { curlCommand } from '../../src/web/export/curl-command.ts'

/** What curl would get from a shell. */
const argumentsOf = (command: string): readonly string[] =>
  execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }; ${command}`], { env: { TOKEN: 'secret' } })
    .toString()
    .split('\0')
    .slice(0, -1)

it('survives a shell, whatever the message contains', () => {
  const text = `it's "quoted" $HOME \`id\` \\ \n!! é 🎉 $(id)`
  const { command, isShortened } = curlCommand({
    origin: 'http://127.0.0.1:1',
    sessionId: 's 1',
    parts: [{ type: 'text', text }],
    settings: { limits: { maxTokens: 5 } },
  })
  expect(isShortened).toBe(false)
  expect(command).not.toContain('secret')
  expect(argumentsOf(command)).toEqual([
    ...['-X', 'POST', 'http://127.0.0.1:1/v1/sessions/s%201/messages', '-H', 'Authorization: Bearer secret'],
    ...['-H', 'Content-Type: application/json', '--data-raw', JSON.stringify({ input: text, limits: { maxTokens: 5 } })],
  ])
})

it('leaves out attachments that no command can contain', () => {
  const text = { type: 'text', text: 'look' } as const
  const image = (data: string) => ({ type: 'image', mediaType: 'image/png', data }) as const
  const sent = (data: string): unknown => {
    const { command, isShortened } = curlCommand({ origin: 'http://h', sessionId: 's', parts: [text, image(data)] })
    return [isShortened, JSON.parse(argumentsOf(command).at(-1) ?? '').input]
  }
  expect(sent('AAAA')).toEqual([false, [text, image('AAAA')]])
  expect(sent('blob:1')).toEqual([true, 'look'])
  expect(sent('A'.repeat(200_000))).toEqual([true, 'look'])
})

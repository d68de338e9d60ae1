import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workbench } from './troupe.ts'

const { agent, troupe, start, folder } = await workbench()

interface Listed {
  readonly sessionId: string
  readonly status: string
  readonly standing: { readonly kind: string; readonly driver?: string }
  readonly goOn?: string
}
const listed = async (...more: readonly string[]): Promise<readonly Listed[]> => {
  const { code, stdout } = await troupe(['sessions', 'list', '--json', ...more])
  expect(code).toBe(0)
  const { sessions }: { readonly sessions: readonly Listed[] } = JSON.parse(stdout)
  return sessions
}

/** As a person sees it; times and folders are no matter here. */
const shown = (text: string): string => text.replaceAll(/\S+ \S+ UTC/g, 'then')

test('a run whose process died is listed, with the command that resumes it', async () => {
  const file = await agent('slow', 'steps:\n  - calls: [{ tool: list_files, input: {} }]\n  - text: Done.\n    delay: 10m\n', undefined)
  const settings = 'description: A test\nmodels: script/slow.yaml\ntools: [list_files]'
  await writeFile(join(folder, file), `---\n${settings}\n---\nYou are slow.\n`)
  const data = ['--data-dir', 'died']
  const running = start(['run', file, 'Take your time', ...data, '--deny', 'shell'])
  await running.says('step 2')

  const [alive] = await listed(...data)
  expect(alive).toMatchObject({
    agent: 'slow',
    title: 'Take your time',
    workspace: folder,
    agentFile: join(folder, file),
    status: 'running',
    standing: { kind: 'running', driver: expect.stringContaining(`process ${running.process.pid} on `) },
  })
  expect(alive).not.toHaveProperty('goOn')
  const id = alive?.sessionId ?? ''

  running.process.kill('SIGKILL')
  await running.ended
  const command = `troupe run slow.ai --resume ${id} --data-dir died --deny shell`
  expect(await listed(...data)).toMatchObject([{ sessionId: id, status: 'running', standing: { kind: 'unfinished' }, goOn: command }])
  const list = await troupe(['sessions', 'list', ...data])
  expect(shown(list.stdout)).toBe(
    [`${id}  slow  unfinished: its process has exited`, '  slow.ai · then · “Take your time”', `  ${command}\n`].join('\n'),
  )
  // Nothing was changed by looking: an id that is not there is refused, with the command that lists them.
  expect(await troupe(['run', file, '--resume', 'nothing', ...data])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`→ List the sessions: troupe sessions list --everywhere --data-dir ${join(folder, 'died')}`),
  })

  await writeFile(join(folder, 'slow.yaml'), 'steps:\n  - calls: [{ tool: list_files, input: {} }]\n  - text: Done.\n')
  expect(await troupe(command.split(' ').slice(1))).toMatchObject({ code: 0, stdout: 'Done.\n' })
  const further = `troupe run slow.ai "…" --resume ${id} --data-dir died --deny shell`
  expect(await listed(...data)).toMatchObject([{ sessionId: id, standing: { kind: 'ended', status: 'completed' }, goOn: further }])
})

test('the newest first, those that wait with what they wait for, those of other projects where they are asked for', async () => {
  const script = 'steps:\n  - calls: [{ tool: write_file, input: { path: x.txt, content: x } }]\n  - text: Done.\n'
  const settings = 'description: A test\nmodels: script/writes.yaml\ntools: [write_file]'
  const file = await agent('writes', script, settings)
  const data = ['--data-dir', join(folder, 'several')]
  expect(await troupe(['run', file, 'First', ...data])).toMatchObject({ code: 6 })
  expect(await troupe(['run', file, 'Second', ...data, '--deny', 'write_file'])).toMatchObject({ code: 0 })
  const [second, first] = await listed(...data)
  expect(first).toMatchObject({ title: 'First', standing: { kind: 'waiting', open: 1 } })
  const list = await troupe(['sessions', 'list', ...data])
  expect(shown(list.stdout)).toBe(
    [
      `${second?.sessionId}  writes  completed`,
      '  writes.ai · then · “Second”',
      `${first?.sessionId}  writes  waiting for an answer`,
      '  writes.ai · then · “First”',
      `  ${first?.goOn}\n`,
    ].join('\n'),
  )
  expect(list.stderr).toBe(
    `Show a session: troupe sessions show ID ${data.join(' ')}\nList the open requests: troupe approvals list ${data.join(' ')}\nContinue a session that has ended: troupe run FILE "…" --resume ID ${data.join(' ')}\n`,
  )
  expect(await troupe(['approvals', 'answer', first?.sessionId ?? '', 'yes', ...data])).toMatchObject({ code: 0 })
  expect((await troupe(['sessions', 'list', ...data])).stdout).toContain('answered; resume it')

  const cwd = join(folder, 'elsewhere')
  await mkdir(cwd)
  expect(await troupe(['sessions', 'list', ...data], { cwd })).toMatchObject({
    code: 0,
    stdout: '',
    stderr: `No sessions of the project ${cwd} in ${join(folder, 'several')}.\n2 more sessions of other projects: troupe sessions list --everywhere ${data.join(' ')}\n`,
  })
  const everywhere = await troupe(['sessions', 'list', '--everywhere', ...data], { cwd })
  expect(everywhere.stdout).toContain(`  cd ${folder} && ${first?.goOn}\n`)
})

test('where nothing is kept, nothing is made', async () => {
  expect(await troupe(['sessions', 'list', '--data-dir', 'none'])).toMatchObject({
    code: 0,
    stdout: '',
    stderr: `No sessions of the project ${folder} in ${join(folder, 'none')}.\n`,
  })
  expect(await listed('--data-dir', 'none')).toEqual([])
})

test('a file instead of the folder is refused, not listed as empty', async () => {
  await writeFile(join(folder, 'a-file'), '')
  for (const place of ['a-file', join('a-file', 'below')]) {
    const listing = await troupe(['sessions', 'list', '--data-dir', place])
    expect(listing).toMatchObject({ code: 2, stdout: '' })
    expect(listing.stderr).toContain(
      `  ${join(folder, place)}  Sessions cannot be stored there: ${join(folder, 'a-file')} is not a folder.\n`,
    )
    expect(listing.stderr).toContain('    → Name their folder with --data-dir.\n')
    const { code, stdout } = await troupe(['approvals', 'list', '--json', '--data-dir', place])
    expect([code, JSON.parse(stdout)]).toMatchObject([2, { ok: false, error: { code: 'config_invalid' }, exitCode: 2 }])
  }
})

import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workbench } from './troupe.ts'

const { troupe, folder } = await workbench()

test('without a terminal, the demo fixes the test without pauses, approves by itself and says so', async () => {
  const ended = await troupe(['demo'])
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\*\*Fixed\.\*\* The checkout test passes[\s\S]*\n$/) })
  expect(ended.stderr).toContain('Demo mode: recorded answers, no AI model.')
  expect(ended.stderr).toContain('Without a terminal, the demo approves the change by itself and does not pause.')
  expect(ended.stderr).toMatch(/\? approval required: Edit shop-1\/src\/checkout\.js\n.* +approved by the demonstration\n/)
  expect(ended.stderr).not.toContain('\u001b')
  const tree = ended.stderr.slice(ended.stderr.indexOf('\nlead '))
  expect(tree).toMatch(/^\nlead {2}completed · 5 steps · 7 calls/)
  expect(tree).toMatch(/✓ researcher .*∥[\s\S]*✓ engineer .*∥/)
  expect(tree).toMatch(/≠ run_tests .*exit code 1[\s\S]*✓ edit_file .*\+2 -2[\s\S]*✓ run_tests[\s\S]*✓ reviewer/)
  expect(tree).toMatch(/\n4 agents, 16 calls, \$0\.04, [\d.]+ s work\n/)
  expect(tree).toContain('npx troupe init')
})

test('nothing is left: no folder, no data', async () => {
  const place = join(folder, 'temporary')
  await mkdir(place)
  const before = process.env.TMPDIR
  process.env.TMPDIR = place
  try {
    expect(await troupe(['demo', '--quiet'])).toMatchObject({ code: 0, stderr: '' })
    expect(await readdir(place)).toEqual([])
    process.env.TMPDIR = join(folder, 'missing')
    expect(await troupe(['demo'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/needs a temporary folder that it can write[\s\S]*Set TMPDIR/),
    })
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
  expect((await readdir(folder)).filter((name) => name !== 'temporary')).toEqual([])
})

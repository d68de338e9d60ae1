import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { codeBlocks, commandWords, readPage, root } from '../documentation.ts'
import { workbench } from './troupe.ts'

// Each page is followed from top to bottom: its named blocks are written to files, its `sh` blocks are run.
// A comment `exits N` behind a command states its exit code; without one it is 0.

const { troupe, folder } = await workbench()

const pages: { readonly [page: string]: readonly string[] } = {
  'README.md': ['Good morning, Ada.', 'Take the 17:05 on Friday.', '"country"'],
  'docs/sandbox.md': ['bubblewrap'],
  'docs/guide.md': [
    'The roses need water',
    'Write notes/today.md',
    'Added notes/later.md',
    'Passwords do not belong in files.',
    'The Lighthouse',
  ],
}

test.each(Object.entries(pages))('%s: the files are valid and the commands run', async (page, expected) => {
  const project = join(folder, page.replaceAll('/', '-'))
  const env = { HOME: join(project, 'home'), XDG_STATE_HOME: join(project, 'state') }
  const workspace = join(project, 'workspace')
  await mkdir(env.HOME, { recursive: true })
  await cp(join(root, 'examples'), join(workspace, 'examples'), { recursive: true })
  const printed: string[] = []
  for (const { language, file, text } of codeBlocks(readPage(page))) {
    if (file !== undefined) {
      await mkdir(dirname(join(workspace, file)), { recursive: true })
      await writeFile(join(workspace, file), text)
    }
    for (const line of language === 'sh' ? text.trim().split('\n') : []) {
      const [command = '', comment = ''] = line.split(/ +# /)
      const words = commandWords(command)
      const ended = await troupe(words.slice(words.indexOf('troupe') + 1), { cwd: workspace, env })
      const [, code = '0'] = /exits (\d+)/.exec(comment) ?? []
      expect([command, ended.code], ended.stderr).toEqual([command, Number(code)])
      printed.push(`${ended.stdout}${ended.stderr}`)
    }
  }
  for (const text of expected) expect(printed.join('\n')).toContain(text)
  expect(await troupe(['validate'], { cwd: workspace, env })).toMatchObject({ code: 0 })
})

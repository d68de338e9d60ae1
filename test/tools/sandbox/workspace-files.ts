import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Puts files into a workspace, with the folders that they need. */
export function writeIn(root: string, name: string, text = ''): string {
  const file = join(root, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

/** What Git takes for a repository. */
export function repositoryIn(root: string, name: string, config = ''): string {
  writeIn(root, `${name}/HEAD`, 'ref: refs/heads/main\n')
  writeIn(root, `${name}/config`, config)
  for (const folder of ['objects', 'refs', 'hooks']) mkdirSync(join(root, name, folder))
  return join(root, name)
}

import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** `packages` are names with exact versions. Scripts of the packages are not run. */
export async function installPackages(folder, packages) {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies: packages }))
  const flags = ['--silent', '--no-audit', '--no-fund', '--ignore-scripts']
  await promisify(execFile)('npm', ['install', ...flags], { cwd: folder, timeout: 300_000 })
}

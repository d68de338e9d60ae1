// Installs what the lockfile says, only where something of it is missing or of another version.
import { execSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')
const packages = (file) => (existsSync(join(folder, file)) ? JSON.parse(readFileSync(join(folder, file), 'utf8')).packages : {})

const there = packages('node_modules/.package-lock.json')
const missing = Object.entries(packages('package-lock.json'))
  .filter(([path, entry]) => path.startsWith('node_modules/') && !entry.optional && (!there[path] || there[path].version !== entry.version))

if (missing.length > 0) {
  console.error(`installing the peers (${missing.length} packages are missing)`)
  execSync('npm ci --no-audit --no-fund', { cwd: folder, stdio: ['ignore', 2, 2] })
}

// The task that each client completes with its own tools: read a file and list the folder (two calls at once), edit the file, run a
// command, and report what the command printed.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export const prompt = 'In notes.txt replace red by blue in the first line. Then run the check and report what it prints.'
const [oldLine, newLine, otherLine] = ['The first line is red.', 'The first line is blue.', 'The second line is red.']
const check = 'grep -c blue notes.txt > proof.txt; echo checked-$(cat proof.txt)-$((40 + 2))'
const printed = 'checked-1-42'
const patch = `*** Begin Patch\n*** Update File: notes.txt\n@@\n-${oldLine}\n+${newLine}\n*** End Patch\n`

const run = (name, more = {}) => ({ name, input: (command) => ({ command, ...more }) })
const read = (name, path) => ({ name, input: (file) => ({ [path]: file }) })
const replace = (name, [path, before, after]) => ({ name, input: (file) => ({ [path]: file, [before]: oldLine, [after]: newLine }) })
const snakeCase = ['file_path', 'old_string', 'new_string']
const execCommand = (commandOf) => ({ name: 'exec_command', input: (about) => ({ cmd: commandOf(about) }) })
const codex = { read: execCommand(() => 'cat notes.txt'), run: execCommand((command) => command) }

/** How each client reads, edits and runs. A text as input is that of a custom tool. */
const toolSets = {
  claude: { read: read('Read', 'file_path'), edit: replace('Edit', snakeCase), run: run('Bash') },
  codex: { ...codex, edit: execCommand(() => `apply_patch <<'END'\n${patch}END`) },
  'codex-custom': { ...codex, edit: { name: 'apply_patch', input: () => patch } },
  opencode: { read: read('read', 'filePath'), edit: replace('edit', ['filePath', 'oldString', 'newString']), run: run('bash') },
  pi: {
    read: read('read', 'path'),
    edit: { name: 'edit', input: (path) => ({ path, edits: [{ oldText: oldLine, newText: newLine }] }) },
    run: run('bash'),
  },
  qwen: {
    read: read('read_file', 'file_path'),
    edit: replace('edit', snakeCase),
    run: run('run_shell_command', { is_background: false }),
  },
  continue: { read: read('Read', 'filepath'), edit: replace('Edit', snakeCase), run: run('Bash') },
}

export const writeNotes = (folder) => writeFile(join(folder, 'notes.txt'), `${oldLine}\n${otherLine}\n`)

/** Plays the model. A request without the task or without the tools, such as one for a title, gets a short text. */
export function answerTask(toolSet, folder) {
  const { read, edit, run } = toolSets[toolSet]
  const file = join(folder, 'notes.txt')
  return ({ tools, turns }) => {
    const task = turns.findLastIndex(({ role, text }) => role === 'user' && text.includes(prompt))
    const offered = (name) => tools.find((tool) => tool.name === name)
    if (task < 0 || ![read, edit, run].every(({ name }) => offered(name))) return { text: 'Notes' }
    const call = ({ name, input }, about) => callOf(offered(name), input(about))
    const results = turns.slice(task).filter(({ role }) => role === 'result')
    if (results.length === 0) return { text: 'I look at the file.', calls: [call(read, file), call(run, 'ls')] }
    if (results.length === 2) return { text: 'I edit the file.', calls: [call(edit, file)] }
    if (results.length === 3) return { text: 'I run the check.', calls: [call(run, check)] }
    return { text: `The check printed ${/checked-\d+-\d+/.exec(results.at(-1).text)?.[0]}.` }
  }
}

/** A provider without custom tools gets them as functions with one property. */
function callOf({ name, kind, properties }, input) {
  return { name, kind, input: typeof input === 'string' && kind === 'function' ? { [properties[0]]: input } : input }
}

/** What is wrong with the outcome; empty if the client has completed the task. */
export async function faultsOf(folder, output) {
  const notes = await readFile(join(folder, 'notes.txt'), 'utf8')
  const proof = await readFile(join(folder, 'proof.txt'), 'utf8').catch(() => 'missing')
  return [
    ...(notes === `${newLine}\n${otherLine}\n` ? [] : [`notes.txt is ${JSON.stringify(notes)}`]),
    ...(proof === '1\n' ? [] : [`proof.txt is ${JSON.stringify(proof)}`]),
    ...(output.includes(printed) ? [] : [`the client does not print ${printed}`]),
  ]
}

// The command for conversations. Part of the one list in command-specs.ts.
import { colourChoices } from '../terminal/display-options.ts'
import type { CommandSpec } from './command-specs.ts'
import { store } from './shared-flags.ts'

export const chatCommandSpec = {
  name: 'chat',
  summary: 'Talk to an agent in the terminal',
  arguments: [
    {
      name: 'AGENT',
      required: false,
      summary: 'Agent file, or name of an agent of the project (default: the only one, or a choice)',
      completes: { name: 'agent' },
    },
  ],
  groups: [
    {
      title: 'Session',
      flags: [
        { name: 'continue', short: 'c', summary: 'Continue the last session of this folder', excludes: ['resume'] },
        {
          name: 'resume',
          value: 'ID',
          summary: 'Continue a session; ID may be its beginning',
          excludes: ['continue'],
          completes: 'session',
        },
        {
          name: 'data-dir',
          value: 'DIR',
          summary: 'Store journals in DIR (default: ~/.local/state/troupe)',
          excludes: ['store'],
          completes: 'folder',
        },
        store,
      ],
    },
    {
      title: 'Agent',
      flags: [
        { name: 'model', value: 'NAME', summary: 'Use this model', completes: 'model' },
        { name: 'config', value: 'FILE', summary: 'Read this configuration file first', excludes: ['connect'], completes: 'file' },
        {
          name: 'allow',
          value: 'PATTERN',
          repeatable: true,
          summary: 'Run matching calls without asking, such as "shell(npm test)"',
          excludes: ['connect'],
        },
        { name: 'deny', value: 'PATTERN', repeatable: true, summary: 'Never run matching calls', excludes: ['connect'] },
        { name: 'trust', summary: "Trust this project's files in their current form", excludes: ['connect'] },
        {
          name: 'connect',
          value: 'URL',
          summary: 'Talk to a running troupe serve or troupe up',
          excludes: ['config', 'allow', 'deny', 'trust'],
        },
      ],
    },
    {
      title: 'Display',
      flags: [
        { name: 'plain', summary: 'Print lines only, for screen readers: nothing is drawn again' },
        { name: 'quiet', short: 'q', summary: 'Show errors and warnings only' },
        { name: 'color', value: 'WHEN', choices: colourChoices, summary: 'Colour: auto, always or never; auto respects NO_COLOR' },
      ],
    },
  ],
  notes: [
    'Type a message and press Enter. While the agent works, a message steers it; Esc or Ctrl-C stops the turn. /help lists commands and keys. Ctrl-C twice leaves and prints the command that continues.',
    'Approvals and questions appear above the line. Answer them as in troupe run: y, n, no REASON, x, or a grant for the session or the project.',
    'Without a terminal, each line of standard input is a message, and answers are printed on standard output. The first turn that fails or needs an approval ends the chat with the exit codes of troupe run. With NO_COLOR or TERM=dumb, the display is that of --plain.',
    '--connect: the token is part of the address as troupe serve prints it, or TROUPE_TOKEN; for a server on this machine also that of the data folder.',
  ],
  examples: [
    { line: 'troupe chat', summary: 'talk to the agent of this project' },
    { line: 'troupe chat trip.ai --model openai/gpt-5.4-mini', summary: 'talk to the agent of a file' },
    { line: 'troupe chat --continue', summary: 'continue the last session of this folder' },
    { line: 'troupe chat --connect http://127.0.0.1:3900', summary: 'talk to a running server' },
    { line: 'printf "Hello\\n" | troupe chat trip.ai', summary: 'send lines of another program' },
  ],
} as const satisfies CommandSpec

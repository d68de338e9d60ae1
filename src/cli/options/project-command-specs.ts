// The commands about agents and their surroundings. Part of the one list in options.ts.
import type { CommandSpec, FlagSpec } from './command-specs.ts'

const json: FlagSpec = { name: 'json', summary: 'print one JSON document instead, also on failure' }
const configFile: FlagSpec = { name: 'config', value: 'FILE', summary: 'read this configuration before all others' }
const everywhere: FlagSpec = { name: 'everywhere', summary: 'include other projects, and sessions that do not say where they began' }
const dataDir: FlagSpec = {
  name: 'data-dir',
  value: 'DIR',
  summary: 'look there for sessions (default: $XDG_STATE_HOME/troupe, ~/.local/state/troupe)',
}

export const approvalsActions = ['list', 'answer', 'drop', 'revoke'] as const
export type ApprovalsAction = (typeof approvalsActions)[number]

export const sessionsActions = ['list', 'show', 'prune', 'delete'] as const
export type SessionsAction = (typeof sessionsActions)[number]

export const agentCommands = [
  {
    name: 'validate',
    summary: 'check agents and configuration; nothing is started or sent',
    arguments: [{ name: 'PATH', required: false, repeatable: true, summary: 'agent files or folders (default: what agents list shows)' }],
    groups: [{ title: 'Options', flags: [json, configFile] }],
    notes: ['Everything that is wrong in any file is told at once, each with its place; the exit code is 2 then.'],
    examples: [
      { line: 'troupe validate', summary: 'every agent of this folder and of the configuration' },
      { line: 'troupe validate agents/ review.ai --json', summary: 'these, for a program' },
    ],
  },
  {
    name: 'agents',
    summary: 'list the agents that there are',
    arguments: [{ name: 'ACTION', required: true, choices: ['list'], summary: 'list' }],
    groups: [{ title: 'Options', flags: [json, configFile] }],
    notes: [
      'Agents are the .ai files of this folder, those that the configuration lists, and files of other programs in their usual places.',
      'Where there are files and none of them is right, all that is wrong is told, and the exit code is 2.',
    ],
    examples: [{ line: 'troupe agents list', summary: 'names, descriptions, files and children' }],
  },
  {
    name: 'init',
    summary: 'begin a project that runs without a key or a network',
    arguments: [{ name: 'DIR', required: false, summary: 'the folder (default: this one)' }],
    groups: [{ title: 'Options', flags: [{ name: 'yes', short: 'y', summary: 'do not ask first' }] }],
    notes: [
      'Nothing is ever overwritten. Where an agent or the configuration is there already, nothing is created; other files, such as README.md and .gitignore, are kept as they are. The configuration that is created is trusted.',
    ],
    examples: [
      { line: 'troupe init trips', summary: 'a new folder with a team of three' },
      { line: 'troupe init --yes', summary: 'here, without a question' },
    ],
  },
  {
    name: 'doctor',
    summary: 'find out what is wrong here, and how to mend it',
    arguments: [],
    groups: [{ title: 'Options', flags: [json, configFile] }],
    notes: [
      'Servers on this machine are looked for; nothing is sent to any other. Keys are never shown. The exit code is 1 where something fails.',
    ],
    examples: [{ line: 'troupe doctor', summary: 'Node, configuration, agents, models, journal' }],
  },
  {
    name: 'config',
    summary: 'show what holds here, and who says so',
    arguments: [
      { name: 'ACTION', required: true, choices: ['show'], summary: 'show' },
      { name: 'FILE', required: false, summary: 'an agent, whose own settings count too' },
    ],
    groups: [
      {
        title: 'Options',
        flags: [{ name: 'origin', summary: 'tell where each value comes from' }, json, configFile],
      },
    ],
    notes: [
      'A flag counts more than a TROUPE_ variable, that more than the agent file, then --config, the working directory, the folder of the agent, ~/.ai-agent, /etc/ai-agent.',
      'Secrets and variables are not shown.',
    ],
    examples: [
      { line: 'troupe config show --origin', summary: 'every setting with its origin' },
      { line: 'troupe config show trip.ai --origin', summary: 'the same for one agent' },
    ],
  },
  {
    name: 'trust',
    summary: 'let the files of a project count in full, as they are now',
    arguments: [
      { name: 'PATH', required: false, repeatable: true, summary: 'files or folders (default: what waits here, once you have seen it)' },
    ],
    groups: [
      {
        title: 'Options',
        flags: [
          { name: 'all', summary: 'trust whatever waits here, without a question', excludes: ['list', 'revoke'] },
          { name: 'list', summary: 'show what is trusted', excludes: ['all', 'revoke'] },
          { name: 'revoke', summary: 'take trust back from files, or from everything below folders', excludes: ['all', 'list'] },
          json,
          configFile,
        ],
      },
    ],
    notes: [
      'Trust is in the content: a file that changes has to be trusted again.',
      'Without a PATH a terminal shows what waits and what it could do with trust, and asks once. Where there is no terminal, name files or say --all; otherwise what waits is listed, and the exit code is 2.',
    ],
    examples: [
      { line: 'troupe trust', summary: 'see what waits, and decide' },
      { line: 'troupe trust .ai-agent.json', summary: 'after having looked at it' },
      { line: 'troupe trust --list', summary: 'what is trusted' },
      { line: 'troupe trust --revoke ~/projects/old', summary: 'no longer' },
    ],
  },
  {
    name: 'sessions',
    summary: 'list, show, prune or delete stored sessions',
    arguments: [
      { name: 'ACTION', required: true, choices: sessionsActions, summary: 'list, show, prune or delete' },
      {
        name: 'ID',
        required: false,
        repeatable: true,
        summary: 'for show and delete: the session ID, or the beginning of it; delete takes several',
      },
    ],
    groups: [
      {
        title: 'Options',
        flags: [
          everywhere,
          dataDir,
          { ...json, excludes: ['stream-json'] },
          {
            name: 'stream-json',
            summary: 'show: print the events of its journal, one JSON document a line',
            excludes: ['json'],
          },
          { name: 'verbose', short: 'v', summary: 'show: print the input and output of every call' },
          { name: 'older', value: 'AGE', summary: 'prune: delete sessions whose last event is older, such as 30d or 12h' },
          { name: 'keep', value: 'COUNT', summary: 'prune: keep this many of the newest, however old they are' },
          { name: 'dry-run', summary: 'prune, delete: print what would be deleted' },
        ],
      },
    ],
    notes: [
      'list: the sessions of this project, the newest first: who, when, what about, and its state: running, and in which process; left in the middle, since the process that drove it is gone; waiting for an answer; damaged, with the first event that cannot be read; or how it has ended.',
      'One that was left or that waits has the command that goes on with it. One that has ended takes a next turn: troupe run FILE PROMPT --resume ID.',
      'show: one session as its journal has it, of any project: what was asked, the tree of what happened, the answer, diagnostics, and who did how much. The totals are over all its turns. With -v it also prints what each call was given and returned, each cut to 20 lines, and where to read the rest. It changes nothing, and does not disturb a process that runs the session.',
      'show exits with 0 however the session went. With --json the document has the outcome as run --json gave it, with the exit code of that run, and without what was reported before it began; of a session that is running, was left or is damaged, what there is so far. With --stream-json a session that has not come to rest has no last line.',
      'show prints a session with a damaged journal up to the damage, says where that is, and exits with 1.',
      'prune: deletes sessions that have ended, over all projects of the data folder: those that are both older than --older and not among the newest --keep. Sessions that are running or suspended are never deleted, and are not counted.',
      'delete: deletes the named sessions, suspended ones too. If one of them is running, nothing is deleted. prune and delete remove journal, messages and stored outputs, and give their space back to the file system.',
    ],
    examples: [
      { line: 'troupe sessions list', summary: 'find the session whose terminal was closed' },
      { line: 'troupe sessions list --everywhere --json', summary: 'all of them, for a program' },
      { line: 'troupe sessions show ID', summary: 'what happened in it' },
      { line: 'troupe sessions show ID --json', summary: 'its outcome, for a program' },
      { line: 'troupe sessions prune --older 30d --keep 100', summary: 'delete ended sessions that are old and not among the newest 100' },
      { line: 'troupe sessions delete ID', summary: 'delete one, whether or not it has ended' },
    ],
  },
  {
    name: 'approvals',
    summary: 'see what was approved for this project, and answer what waits',
    arguments: [
      {
        name: 'ACTION',
        required: true,
        choices: approvalsActions,
        summary: 'list, answer, drop or revoke',
      },
      {
        name: 'NAME',
        required: false,
        repeatable: true,
        summary: 'as list shows it: for answer a session, or one of its requests, and the answer; for drop sessions; for revoke keys',
      },
    ],
    groups: [
      {
        title: 'Options',
        flags: [{ name: 'all', summary: 'revoke everything of this project' }, everywhere, dataDir, json],
      },
    ],
    notes: [
      'list: every open request, also of sessions that run in another process, which is named, or whose process died.',
      'What was approved for a session ends with it; what was approved for a project holds in the folder that it was given in, until it is taken back. A rule that denies something counts more than either.',
      'An answer is what may be typed at a terminal: yes, no, no and why, x to end the run, s or p to approve it for the session or the project, s1, p1 and so on for more, as approvals list shows them; a text or the number of an option where something is asked. It is kept, and nothing runs: troupe run FILE --resume ID then goes on, and needs no terminal.',
      'A session that is dropped has ended: nothing more of it runs, and its journal stays.',
    ],
    examples: [
      { line: 'troupe approvals list', summary: 'what is approved here, and what waits' },
      { line: 'troupe approvals answer ID yes', summary: 'the only request of a session; where there are several, name the request' },
      { line: 'troupe approvals answer ID no use the other file', summary: 'with a word about why' },
      { line: 'troupe approvals drop ID', summary: 'it is no longer wanted' },
      { line: "troupe approvals revoke 'command:npm test'", summary: 'ask about it again' },
    ],
  },
  {
    name: 'skills',
    summary: 'list the skills that agents may load here',
    arguments: [{ name: 'ACTION', required: true, choices: ['list'], summary: 'list' }],
    groups: [{ title: 'Options', flags: [json, configFile] }],
    notes: [
      'Skills are folders with a SKILL.md. They are looked for in .agents/skills and .claude/skills from here up to the root of the project, in the folders that skills.directories of the configuration names, in the home folder, and in /usr/local/share, /usr/share and /etc, there below ai-agent/skills. Of the same name the nearest counts.',
    ],
    examples: [{ line: 'troupe skills list', summary: 'names, descriptions, where they are, and what is wrong with any' }],
  },
] as const satisfies readonly CommandSpec[]

export type AgentCommandName = (typeof agentCommands)[number]['name']

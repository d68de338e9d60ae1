// The commands of the kernel. Part of the one list in command-specs.ts.
import type { CommandSpec } from './command-specs.ts'
import { configFile, dataDir, json, store } from './shared-flags.ts'

export const eventsActions = ['list', 'retry'] as const
export type EventsAction = (typeof eventsActions)[number]

export const schedulesActions = ['list', 'cancel'] as const
export type SchedulesAction = (typeof schedulesActions)[number]

export const extensionsActions = ['list', 'show', 'validate', 'new', 'trust', 'enable', 'disable', 'setup', 'reload'] as const
export type ExtensionsAction = (typeof extensionsActions)[number]

export const kernelCommands = [
  {
    name: 'extensions',
    summary: 'List, check, create, trust, enable, set up or reload extensions',
    arguments: [
      {
        name: 'ACTION',
        required: true,
        choices: extensionsActions,
        summary: 'The action: list, show, validate, new, trust, enable, disable, setup or reload',
      },
      {
        name: 'ID',
        required: false,
        repeatable: true,
        summary: 'The id of the extension (validate: all of them by default)',
        completes: { name: 'extension', actions: { one: ['show', 'setup'], several: ['validate', 'trust', 'enable', 'disable'] } },
      },
    ],
    groups: [
      {
        title: 'New extension',
        flags: [
          {
            name: 'kind',
            value: 'KIND',
            choices: ['tool', 'agent', 'channel', 'service', 'schedule'],
            summary: 'new: tool, agent, channel, service or schedule (default: tool)',
          },
        ],
      },
      {
        title: 'Trust',
        flags: [{ name: 'sandboxed', summary: 'trust: keep it in the sandbox, with its permissions' }],
      },
      {
        title: 'Setup',
        flags: [
          { name: 'set', value: 'NAME=VALUE', repeatable: true, summary: 'setup: use this value, and ask no questions' },
          { name: 'secrets', summary: 'setup: read secrets from standard input, one NAME=VALUE a line' },
        ],
      },
      { title: 'Options', flags: [dataDir, store, json, configFile] },
    ],
    notes: [
      'Extensions are folders with a manifest.yaml: in extensions/ of the project, in ~/.ai-agent/extensions, and those of Troupe. The nearest one wins an id.',
      'validate: checks the manifest, the entry file and its types, and initializes the extension once in the sandbox.',
      'trust: an extension of the project runs in a sandboxed process until you trust it in its current form. Then it runs inside the kernel with all your permissions. With --sandboxed it stays in the sandbox, gets only the hosts, folders and tools of its manifest, and may give the assistant tasks and messages of its channel.',
      'enable: also releases an extension that was quarantined because it took the kernel down.',
      'setup: asks for the settings of an extension. Secrets are stored in the data folder and never sent to a model.',
      'reload: the troupe up that runs in this folder restarts its kernel, which loads extensions as they are now. Conversations continue.',
      'Changes apply from the next start of troupe up or troupe serve, or after troupe extensions reload.',
    ],
    examples: [
      { line: 'troupe extensions list', summary: 'show all extensions and their state' },
      { line: 'troupe extensions new weather --kind tool', summary: 'create extensions/weather' },
      { line: 'troupe extensions validate weather', summary: 'check it before it is loaded' },
      { line: 'troupe extensions trust weather', summary: 'let it run inside the kernel' },
      { line: 'troupe extensions setup weather --set city=Rome --secrets < secrets.txt', summary: 'set it up in a script' },
      { line: 'troupe extensions reload', summary: 'load changed extensions' },
    ],
  },
  {
    name: 'events',
    summary: 'List events of extensions, or deliver failed ones again',
    arguments: [
      { name: 'ACTION', required: true, choices: eventsActions, summary: 'The action: list or retry' },
      { name: 'ID', required: false, summary: 'retry: the id of the event' },
    ],
    groups: [
      {
        title: 'Selection',
        flags: [
          { name: 'dead', summary: 'list: only events whose delivery was given up' },
          { name: 'name', value: 'NAME', summary: 'Only events with this name, such as user_message' },
          { name: 'limit', value: 'COUNT', summary: 'list: how many events, newest first (default: 50)' },
          { name: 'all', summary: 'retry: all events whose delivery was given up' },
        ],
      },
      { title: 'Options', flags: [dataDir, store, json, configFile] },
    ],
    notes: [
      'A delivery that fails is retried after 1 s, 5 s, 30 s, 2 min and 10 min. Then it is given up, and kept with the last error.',
      'A chain of events that lead to each other is stopped after 16 events or 10 minutes. A retry starts a new chain.',
      'The last 1,000 delivered events and the last 1,000 failed ones are kept.',
      'retry: a running kernel delivers the events within seconds, otherwise the next one does.',
    ],
    examples: [
      { line: 'troupe events list --dead', summary: 'show what could not be delivered, and why' },
      { line: 'troupe events retry --all', summary: 'deliver all of it again' },
    ],
  },
  {
    name: 'schedules',
    summary: 'List or cancel reminders, tasks and other schedules',
    arguments: [
      { name: 'ACTION', required: true, choices: schedulesActions, summary: 'The action: list or cancel' },
      { name: 'ID', required: false, repeatable: true, summary: 'cancel: the ids, from schedules list' },
    ],
    groups: [{ title: 'Options', flags: [dataDir, store, json, configFile] }],
    notes: [
      'A reminder is a text for the person. A task is work for the assistant. Both are added in conversations or by extensions.',
      'list: also shows the schedules of manifests and of code, which end with their extension: troupe extensions disable ID.',
      'cancel: works while troupe up runs and while it does not. A task that has been sent is not stopped.',
    ],
    examples: [
      { line: 'troupe schedules list', summary: 'show what is scheduled, the next one first' },
      { line: 'troupe schedules cancel scheduler/18f2a', summary: 'cancel a reminder or a task' },
    ],
  },
] as const satisfies readonly CommandSpec[]

export type KernelCommandName = (typeof kernelCommands)[number]['name']

/** The tools that an agent file can name without configuration. `src/tools/builtin/builtin-tools.ts` implements each. */
export const builtinToolNames = [
  'shell',
  'read_file',
  'write_file',
  'edit_file',
  'apply_patch',
  'list_files',
  'search_files',
  'web_fetch',
  'update_plan',
  'ask_user',
] as const

export type BuiltinToolName = (typeof builtinToolNames)[number]

/** Tools that agents get automatically, and when. */
export const automaticTools: { readonly [name: string]: string } = {
  read_output: 'every agent with tools has it',
  load_skill: 'every agent with `skills` has it',
  find_agents: 'an agent with many `agents` has it',
  delegate_task: 'an agent with many `agents` has it',
  find_tools: 'an agent with many tools of servers has it',
  use_tool: 'an agent with many tools of servers has it',
}

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

const childControl = 'an agent with `agents` and `childControl` has it'

/** Tools that agents get automatically, and when. */
export const automaticTools: { readonly [name: string]: string } = {
  read_output: 'every agent with tools has it',
  load_skill: 'every agent with `skills` has it',
  find_agents: 'an agent with many `agents` has it',
  delegate_task: 'an agent with many `agents` has it',
  find_tools: 'an agent with many tools of servers has it',
  use_tool: 'an agent with many tools of servers has it',
  spawn_agent: childControl,
  send_agent_input: childControl,
  wait_for_agent: childControl,
  close_agent: childControl,
  list_agents: childControl,
}

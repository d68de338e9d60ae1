import type { Tool } from '../../contracts/index.ts'

/** Rules that ask about or deny a built-in tool apply to it under every name, such as `shell_exec__shell`. */
export function withBuiltinRules(tool: Tool): Tool {
  if (!tool.approval) return tool
  return {
    ...tool,
    approval: async (input) => {
      const wish = await tool.approval?.(input)
      return wish && { ...wish, keys: wish.keys.map((key) => ({ ...key, tools: [...(key.tools ?? []), tool.name] })) }
    },
  }
}

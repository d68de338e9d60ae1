export { builtinTools } from './builtin-tools.ts'
export { loadSkillTool } from './load-skill/load-skill.ts'

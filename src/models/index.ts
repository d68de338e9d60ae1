export { type BuiltInModelsOptions, builtInModels } from './resolve-model.ts'
export { type ScriptModelOptions, scriptModel } from './script-model.ts'

import { resolve } from "node:path";
import ts from "typescript";

/** The strictest settings that a user of a generated client may have. */
const STRICT: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  types: [],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noFallthroughCasesInSwitch: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  // Checking the compiler's own libraries would only take time.
  skipDefaultLibCheck: true,
};

/**
 * Compiles a source that is not in a file, with all its imports.
 *
 * @param name the file name that the source would have, from which its imports are resolved
 */
export function compile(source: string, options: ts.CompilerOptions = {}, name = "source.ts") {
  const file = resolve(name).replaceAll("\\", "/");
  const host = ts.createCompilerHost({ ...STRICT, ...options });
  const { fileExists, readFile } = host;
  host.fileExists = (path) => path === file || fileExists(path);
  host.readFile = (path) => (path === file ? source : readFile(path));
  const program = ts.createProgram([file], { ...STRICT, ...options }, host);
  const problems = ts.getPreEmitDiagnostics(program).map((each) => {
    const line = each.file?.getLineAndCharacterOfPosition(each.start ?? 0).line ?? 0;
    return `${each.file?.fileName}:${line + 1} ${ts.flattenDiagnosticMessageText(each.messageText, "\n")}`;
  });
  return { problems, checker: program.getTypeChecker(), source: program.getSourceFile(file) };
}

/** The parts of a source's exported types that say nothing about a value: `any`, `unknown`, or no type at all. */
export function untyped({ checker, source }: ReturnType<typeof compile>): string[] {
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error("The source exports nothing");
  return checker
    .getExportsOfModule(module)
    .flatMap((symbol) => untypedIn(checker, checker.getDeclaredTypeOfSymbol(symbol), symbol.name, new Set()));
}

const NOTHING_KNOWN = ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.Never;

const SCALAR =
  ts.TypeFlags.StringLike |
  ts.TypeFlags.NumberLike |
  ts.TypeFlags.BooleanLike |
  ts.TypeFlags.Null |
  ts.TypeFlags.Undefined |
  ts.TypeFlags.Void;

/** @param above the types that contain this one, because a type may contain itself */
function untypedIn(checker: ts.TypeChecker, type: ts.Type, path: string, above: Set<ts.Type>): string[] {
  if (type.flags & NOTHING_KNOWN) return [`${path}: ${checker.typeToString(type)}`];
  if (type.flags & SCALAR || above.has(type)) return [];
  // These have no parts of their own.
  if (["Blob", "Date", "File"].includes(type.symbol?.name)) return [];
  // An open union: any text, but the known ones are suggested.
  if (type.isIntersection() && type.types.some((each) => each.flags & ts.TypeFlags.String)) return [];
  const within = (inner: ts.Type, step: string) =>
    untypedIn(checker, inner, path + step, new Set([...above, type]));
  if (type.isUnionOrIntersection()) return type.types.flatMap((each) => within(each, ""));
  if (checker.isTupleType(type))
    return checker.getTypeArguments(type as ts.TypeReference).flatMap((each, i) => within(each, `[${i}]`));
  if (checker.isArrayType(type))
    return checker.getTypeArguments(type as ts.TypeReference).flatMap((each) => within(each, "[]"));
  const properties = checker.getPropertiesOfType(type);
  const indexes = checker.getIndexInfosOfType(type);
  const isData = type.flags & ts.TypeFlags.Object && properties.length + indexes.length > 0;
  if (!isData) return [`${path}: ${checker.typeToString(type)}`];
  const isEmpty = properties.length === 0 && indexes.every((each) => each.type.flags & ts.TypeFlags.Never);
  if (isEmpty) return [];
  return [
    ...properties.flatMap((each) => within(checker.getTypeOfSymbol(each), `.${each.name}`)),
    ...indexes.flatMap((each) => within(each.type, "[key]")),
  ];
}

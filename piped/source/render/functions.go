// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"reflect"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// refused are the functions of sprig that templates of applications do not get, by the reason.
var refused = map[string]string{
	"it would read the environment of piped": "env expandenv",
	"it would reach the network":             "getHostByName",
	"it would read files of the machine":     "dateInZone date_in_zone htmlDateInZone",
	"it would change a value that is used elsewhere": "set unset merge mergeOverwrite mustMerge " +
		"mustMergeOverwrite",
	"it takes too long, and gives something else at each run": "genPrivateKey genCA genCAWithKey genSelfSignedCert " +
		"genSelfSignedCertWithKey genSignedCert genSignedCertWithKey buildCustomCert derivePassword",
}

// offered are the functions of sprig that templates get. A function that a later version of sprig adds is
// in neither list, and a test asks for the decision.
var offered = strings.Fields(`
	abbrev abbrevboth add add1 add1f addf adler32sum ago all any append atoi b32dec b32enc b64dec b64enc base bcrypt
	biggest camelcase cat ceil chunk clean coalesce compact concat contains date dateModify date_modify decryptAES
	deepCopy deepEqual default dict dig dir div divf duration durationRound empty encryptAES ext fail
	first float64 floor
	fromJson get has hasKey hasPrefix hasSuffix hello htmlDate htpasswd indent initial initials int int64 isAbs join
	kebabcase keys kindIs kindOf last list lower max maxf min minf mod mul mulf mustAppend mustChunk mustCompact
	mustDateModify mustDeepCopy mustFirst mustFromJson mustHas mustInitial mustLast mustPrepend mustPush mustRegexFind
	mustRegexFindAll mustRegexMatch mustRegexReplaceAll mustRegexReplaceAllLiteral mustRegexSplit mustRest mustReverse
	mustSlice mustToDate mustToJson mustToPrettyJson mustToRawJson mustUniq mustWithout must_date_modify nindent nospace
	now omit osBase osClean osDir osExt osIsAbs pick pluck plural prepend push quote randAlpha randAlphaNum randAscii
	randBytes randInt randNumeric regexFind regexFindAll regexMatch regexQuoteMeta regexReplaceAll
	regexReplaceAllLiteral
	regexSplit repeat replace rest reverse round semver semverCompare seq sha1sum sha256sum sha512sum shuffle slice
	snakecase sortAlpha split splitList splitn squote sub subf substr swapcase ternary title toDate toDecimal toJson
	toPrettyJson toRawJson toString toStrings trim trimAll trimPrefix trimSuffix trimall trunc tuple typeIs typeIsLike
	typeOf uniq unixEpoch until untilStep untitle upper urlJoin urlParse uuidv4 values without wrap wrapWith`)

// functions are what a template may call, metered.
func functions(m *meter) template.FuncMap {
	all := template.FuncMap{}
	library := sprig.TxtFuncMap()
	for _, name := range offered {
		all[name] = m.metered(name, library[name])
	}
	// Those of the language whose results have no bound.
	for name, f := range map[string]any{
		"print": fmt.Sprint, "println": fmt.Sprintln, "printf": fmt.Sprintf,
		"html": template.HTMLEscaper, "js": template.JSEscaper, "urlquery": template.URLQueryEscaper,
	} {
		all[name] = m.metered(name, f)
	}
	for reason, names := range refused {
		for name := range strings.FieldsSeq(names) {
			all[name] = func(...any) (string, error) { return "", fmt.Errorf("it cannot be used here: %s", reason) }
		}
	}
	return all
}

// metered is the function with its arguments, its cost and its results charged. Text/template makes an
// error of the function's panic.
func (m *meter) metered(name string, f any) any {
	function := reflect.ValueOf(f)
	cost := costs[name]
	wrapped := func(in []reflect.Value) []reflect.Value {
		must(m.spend(callCost))
		arguments := in
		if function.Type().IsVariadic() {
			arguments = in[: len(in)-1 : len(in)-1]
			for i := range in[len(in)-1].Len() {
				arguments = append(arguments, in[len(in)-1].Index(i))
			}
		}
		a := &call{}
		for _, argument := range arguments {
			size, depth, err := m.measure(argument)
			must(err)
			a.add(argument, size, depth)
		}
		if cost != nil {
			must(m.spend(cost(a)))
		}
		out := function.Call
		if function.Type().IsVariadic() {
			out = function.CallSlice
		}
		results := out(in)
		for _, result := range results {
			_, _, err := m.measure(result)
			must(err)
		}
		return results
	}
	return reflect.MakeFunc(function.Type(), wrapped).Interface()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

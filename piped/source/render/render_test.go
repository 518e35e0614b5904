// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Masterminds/sprig/v3"
	"github.com/stretchr/testify/require"
)

var groups = map[string]map[string]string{
	"encryptedSecrets": {"password": "hunter2", "user": "ann"},
	"empty":            {},
}

func TestTemplatesAreFilled(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"no braces":                                         "no braces",
		"a: {{ .encryptedSecrets.password }}\n":             "a: hunter2\n",
		`{{ index .encryptedSecrets "user" }}`:              "ann",
		"{{ .encryptedSecrets.password | b64enc | quote }}": `"aHVudGVyMg=="`,
		"{{- range $k, $v := .encryptedSecrets }}{{ $k }}={{ $v }};{{ end -}}": "password=hunter2;" +
			"user=ann;",
		`{{ with .empty.x }}{{ . }}{{ else }}none{{ end }}`:                                 "error",
		`{{ printf "%-8s|%3d" .encryptedSecrets.user 5 }}`:                                  "ann     |  5",
		`{{ define "x" }}<{{ . }}>{{ end }}{{ template "x" .encryptedSecrets.user }}`:       "<ann>",
		`{{ dict "a" (list 1 2) | toJson }}`:                                                `{"a":[1,2]}`,
		`{{ "a\nb" | indent 2 }}`:                                                           "  a\n  b",
		`{{ range $i := until 3 }}{{ if eq $i 1 }}{{ continue }}{{ end }}{{ $i }}{{ end }}`: "02",
		`{{ regexReplaceAll "h(.)n" .encryptedSecrets.password "${1}" }}`:                   "uter2",
		`{{ ternary "yes" "no" (empty "") }}`:                                               "yes",
		`{{ html "<a>" }}{{ len "abc" }}`:                                                   "&lt;a&gt;3",
	} {
		got, err := Render(t.Context(), text, groups)
		if want == "error" {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestMistakesHaveTheirPlaceAndAnExplanation(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\nb: {{ .encryptedSecrets.pasword }}": `line 2: there is no "pasword" in .encryptedSecrets: ` +
			`there are password, user`,
		"{{ .empty.x }}":                    `line 1: there is no "x" in .empty: there are none`,
		"{{ .encryptedSecret.x }}":          `map has no entry for key "encryptedSecret"`,
		"{{ .encryptedSecrets.user }":       "line 1: unexpected",
		"\n\n{{ nosuch }}":                  `line 3: function "nosuch" not defined`,
		"{{ env \"HOME\" }}":                "it would read the environment of piped",
		"{{ getHostByName \"localhost\" }}": "it would reach the network",
		"{{ set (dict) \"a\" 1 }}":          "it would change a value",
		"{{ genPrivateKey \"rsa\" }}":       "it takes too long",
		"{{ fail \"stop here\" }}":          "stop here",
		`{{ define "a" }}{{ template "b" }}{{ end }}{{ define "b" }}{{ template "a" }}{{ end }}` +
			`{{ template "a" }}`: "uses itself",
	} {
		_, err := Render(t.Context(), text, groups)
		var mistake *Error
		require.ErrorAs(t, err, &mistake, text)
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "template: template")
	}
}

func TestEveryFunctionOfTheLibraryWasJudged(t *testing.T) {
	t.Parallel()
	var judged []string
	for _, names := range refused {
		judged = append(judged, strings.Fields(names)...)
	}
	judged = append(judged, offered...)
	var library []string
	for name := range sprig.TxtFuncMap() {
		library = append(library, name)
	}
	require.ElementsMatch(t, library, judged)
	for name := range costs {
		require.True(t, name == "printf" || slices.Contains(offered, name), name)
	}
}

// Each of these would take gigabytes or hours without bounds.
func TestGreedyTemplatesAreStopped(t *testing.T) {
	t.Parallel()
	const work = "more than the 64 MiB of work|longer than 10s" // the latter on a busy machine
	for name, c := range map[string]struct{ text, want string }{
		"a loop without output": {"{{ range 1000000000000 }}{{ end }}", work},
		"loops in loops": {
			"{{ range until 1000 }}{{ range until 1000 }}{{ range until 1000 }}{{ end }}{{ end }}{{ end }}", work,
		},
		"a large output": {
			`{{ $s := repeat 1000000 "x" }}{{ range 100 }}{{ $s }}{{ end }}`, "larger than the 16 MiB",
		},
		"doubling texts": {`{{ $s := "x" }}{{ range 100 }}{{ $s = print $s $s }}{{ end }}`, work},
		"doubling lists": {`{{ $l := list 1 }}{{ range 100 }}{{ $l = concat $l $l }}{{ end }}`, work},
		"doubling references": {
			`{{ $d := dict "a" 1 }}{{ range 100 }}{{ $d = dict "a" $d "b" $d }}{{ end }}`, work,
		},
		"repeat":                {`{{ repeat 1000000000000 "x" }}`, work},
		"until":                 {`{{ until 1000000000000 }}`, work},
		"untilStep":             {`{{ untilStep 0 1000000000000 1 }}`, work},
		"seq":                   {`{{ seq 0 1000000000000 }}`, work},
		"seq with steps":        {`{{ seq 0 2 1000000000000 }}`, work},
		"indent":                {`{{ indent 1000000000000 "x" }}`, work},
		"widths":                {`{{ printf "` + strings.Repeat("%999999d", 100) + `" 1 }}`, work},
		"widths from arguments": {`{{ printf "%*d" 999999 1 }}`, "write it into the format"},
		"an argument many times": {
			`{{ $s := repeat 100000 "x" }}{{ printf "` + strings.Repeat("%[1]s", 1000) + `" $s }}`, work,
		},
		"replace":                  {`{{ $s := repeat 100000 "x" }}{{ replace "x" $s $s }}`, work},
		"replace nothing":          {`{{ $s := repeat 100000 "x" }}{{ replace "" $s $s }}`, work},
		"join":                     {`{{ join (repeat 100000 "x") (until 100000) }}`, work},
		"regular expressions":      {`{{ $s := repeat 100000 "x" }}{{ regexReplaceAll "x" $s $s }}`, work},
		"long regular expressions": {`{{ regexMatch (repeat 1001 "x") "x" }}`, "more than the 1000"},
		"costly passwords":         {`{{ range 100 }}{{ bcrypt "x" }}{{ end }}`, work},
		"random texts":             {`{{ randAlphaNum 1000000000000 }}`, work},
		"wrapping":                 {`{{ wrapWith 1 (repeat 100000 "x") (repeat 100000 "y ") }}`, work},
		"pretty JSON": {
			`{{ repeat 9000 "[" | cat (repeat 9000 "]") | replace " " "" | toString | trunc 0 }}` +
				`{{ $n := print (repeat 5000 "[") (repeat 5000 "]") }}{{ toPrettyJson (fromJson $n) | len }}`,
			work,
		},
		"chunks of nothing":            {`{{ chunk 0 (list 1 2) }}`, "want at least 1"},
		"templates that use templates": {doubling(40), work},
		"braces":                       {strings.Repeat("{{ 1 }}", maxActions+1), "pairs of braces"},
		"deep nesting":                 {strings.Repeat("{{ if 1 }}", maxActions), "unexpected EOF"},
		"parentheses":                  {"{{ " + strings.Repeat("(", 1<<20), "line 1"},
		"size":                         {strings.Repeat("x", MaxTemplate+1), "more than the 4 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Render(t.Context(), c.text, groups)
			require.Error(t, err)
			require.Regexp(t, c.want, err.Error())
		})
	}
}

// doubling has each template use the next one twice.
func doubling(n int) string {
	var b strings.Builder
	name := func(i int) string { return strings.Repeat("a", i+1) }
	for i := range n {
		b.WriteString(
			`{{ define "` + name(i) + `" }}{{ template "` + name(
				i+1,
			) + `" }}{{ template "` + name(i+1) + `" }}{{ end }}`,
		)
	}
	return b.String() + `{{ define "` + name(n) + `" }}{{ end }}{{ template "a" }}`
}

func TestATemplateStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the deployment was cancelled")
	cancel(why)
	_, err := Render(ctx, "{{ range 10 }}{{ end }}", groups)
	require.ErrorContains(t, err, why.Error())
}

func FuzzRender(f *testing.F) {
	f.Setenv("PIPEDECK_RENDER_FUZZ", "value-of-the-environment")
	for _, seed := range []string{
		"{{ .encryptedSecrets.password }}", "{{ range $i := until 3 }}{{ $i }}{{ end }}",
		`{{ env "PIPEDECK_RENDER_FUZZ" }}`,
		`{{ printf "%9d" 1 }}`, `{{ define "x" }}{{ template "x" }}{{ end }}{{ template "x" }}`,
		`{{ $d := dict "a" 1 }}{{ toPrettyJson $d }}`,
		`{{ repeat 3 "x" | indent 2 | replace "x" "y" }}`, `{{ (now).Format "x" }}`,
		`{{ seq 1 2 9 }}{{ until -3 }}{{ chunk 2 (list 1 2 3) }}`,
		`{{ with $x := 1 }}{{ break }}{{ end }}`, "{{ ((((((1)))))) }}", `{{ regexReplaceAll "a*" "aaa" "$0" }}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		began := time.Now()
		got, err := Render(context.Background(), text, groups)
		var mistake *Error
		if err != nil && (!errors.As(err, &mistake) || got != "") {
			t.Errorf("%q: %v of type %T with the output %q", text, err, err, got)
		}
		if strings.Contains(got, "value-of-the-environment") {
			t.Errorf("%q read the environment", text)
		}
		if len(got) > MaxOutput || time.Since(began) > 2*timeout {
			t.Errorf("%q made %d bytes in %s", text, len(got), time.Since(began))
		}
	})
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package health_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/health"
)

// The program of the tests runs scripts as the plugins do: in separate processes.
func TestMain(m *testing.M) {
	health.ServeIfChild()
	os.Exit(m.Run())
}

func rules(t *testing.T, configured ...config.HealthRule) *health.Rules {
	t.Helper()
	r, err := health.Compile(configured)
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return r
}

// widget is an object of a custom kind with the status in YAML.
func widget(t *testing.T, status string) *unstructured.Unstructured {
	t.Helper()
	text := "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, generation: 2}"
	if status != "" {
		text += ", status: " + status
	}
	var content map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text+"}"), &content))
	o := &unstructured.Unstructured{Object: content}
	data, err := o.MarshalJSON() // numbers as the API gives them
	require.NoError(t, err)
	require.NoError(t, o.UnmarshalJSON(data))
	return o
}

func judge(t *testing.T, r *health.Rules, status string) string {
	t.Helper()
	verdict, judged := r.Judge(t.Context(), widget(t, status))
	if !judged {
		return "open"
	}
	return verdict.String()
}

const (
	readyByCEL = `has(object.status.phase) && object.status.phase == 'Ready' ? {'status': 'Healthy'} :
  {'status': object.status.replicas < 3 ? 'Degraded' : 'Progressing',
   'message': 'has ' + string(object.status.replicas)}`
	readyByLua = `
hs = {status = "Progressing", message = "waits for its controller"}
if obj.status ~= nil and obj.status.conditions ~= nil then
  for i, condition in ipairs(obj.status.conditions) do
    if condition.type == "Ready" and condition.status == "False" then
      hs.status = "Degraded"
      hs.message = condition.message
      return hs
    end
    if condition.type == "Ready" and condition.status == "True" then
      hs.status = "Healthy"
      hs.message = string.format("%d of %d", obj.status.ready, #obj.status.conditions)
      return hs
    end
  end
end
return hs`
	readyByPlural = `
healthStatus = {}
if Obj.status ~= nil and statusConditionExists(Obj.status, "Ready") then
  healthStatus.status = "Progressing"
  if isStatusConditionTrue(Obj.status, "Ready") then healthStatus = {status = "Healthy"} end
end`
)

func TestARuleJudgesTheObjectsOfItsKind(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ cel, lua, status, want string }{
		"an expression gives a text":   {cel: `"Healthy"`, want: "Healthy"},
		"an expression gives a map":    {cel: readyByCEL, status: "{replicas: 2}", want: "Degraded: has 2"},
		"an expression chooses":        {cel: readyByCEL, status: "{replicas: 4}", want: "Progressing: has 4"},
		"an expression has fields":     {cel: readyByCEL, status: "{phase: Ready}", want: "Healthy"},
		"an expression leaves it open": {cel: `object.?status.?phase.orValue(null)`, want: "open"},
		"an optional is empty":         {cel: `object.?status.?phase`, want: "open"},
		"an optional has a value": {cel: `object.?status.?phase`, status: "{phase: Suspended}",
			want: "Suspended"},
		"a field is missing": {cel: readyByCEL, want: "health[0].cel fails: no such key: status"},
		"a status that does not exist": {cel: `object.status.phase`, status: "{phase: Fine}",
			want: `health[0].cel fails: it gives the status "Fine": want Healthy, Progressing, Degraded, ` +
				`Suspended, Missing or Unknown`},
		"a number": {cel: `object.status.a`, status: "{a: 1}",
			want: "health[0].cel fails: it gives a value of the type int: want a status, or a map with " +
				"status and message"},
		"a message that is no text": {cel: `{'status': 'Missing', 'message': object.status.a}`, status: "{a: 1}",
			want: "Missing: 1"},
		"the controller is behind": {cel: `"Healthy"`, status: "{observedGeneration: 1}",
			want: "Progressing: the controller has not seen the change yet"},
		"a script of Argo CD": {lua: readyByLua, want: "Progressing: waits for its controller"},
		"a script of Argo CD, a condition": {lua: readyByLua,
			status: "{conditions: [{type: Ready, status: 'False', message: no disk}]}",
			want:   "Degraded: no disk"},
		"a script of Argo CD, numbers": {lua: readyByLua,
			status: "{ready: 1, conditions: [{type: Ready, status: 'True'}]}",
			want:   "Healthy: 1 of 1"},
		"a script of Plural": {lua: readyByPlural, status: "{conditions: [{type: Ready, status: 'True'}]}",
			want: "Healthy"},
		"a script of Plural, in between": {lua: readyByPlural, status: "{conditions: [{type: Ready, status: 'False'}]}",
			want: "Progressing"},
		"a script of Plural leaves it": {lua: readyByPlural, want: "open"},
		"a script gives nothing":       {lua: `local a = 1`, want: "open"},
		"a script gives a text":        {lua: `return "Healthy"`, want: "Healthy"},
		"a script fails": {lua: "\nreturn obj.status.phase",
			want: "health[0].lua fails: line 2: attempt to index a non-table object(nil) with key 'phase'"},
		"a script raises": {lua: `error({})`, want: "health[0].lua fails: table"},
		"a script gives a number": {lua: `return 1`,
			want: "health[0].lua fails: it gives a number: want a table with status and message"},
		"a script is careless with a type": {lua: `return {status = 7}`,
			want: `health[0].lua fails: it gives the status "7": want Healthy, Progressing, Degraded, Suspended, ` +
				`Missing or Unknown`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rules(t, config.HealthRule{Group: "example.com", Kind: "Widget", CEL: tt.cel, Lua: tt.lua})
			got := judge(t, r, tt.status)
			if tt.want == "health[0].lua fails: table" {
				require.Contains(t, got, tt.want)
				return
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestTheFirstRuleForAKindCounts(t *testing.T) {
	t.Parallel()
	r := rules(t,
		config.HealthRule{Group: "apps", Kind: "Widget", CEL: `"Missing"`},
		config.HealthRule{Group: "*.com", Kind: "Wi*", CEL: `"Suspended"`},
		config.HealthRule{Group: "*", Kind: "*", CEL: `"Healthy"`})
	require.Equal(t, "Suspended", judge(t, r, ""))
	require.True(t, r.Judges(widget(t, "").GroupVersionKind().GroupKind()))
	var none *health.Rules
	require.False(t, none.Judges(widget(t, "").GroupVersionKind().GroupKind()))
	require.Equal(t, "open", judge(t, none, ""))
	none.Close()
}

func TestScriptsReachNothingOutside(t *testing.T) {
	t.Parallel()
	names := []string{"os", "io", "load", "loadstring", "loadfile", "dofile", "require", "package", "debug", "channel",
		"coroutine", "print", "collectgarbage", "module", "setfenv", "string.dump"}
	r := rules(t, config.HealthRule{Group: "example.com", Kind: "Widget",
		Lua: `return {status = "Healthy", message = tostring(` + strings.Join(names, " or ") + ` or nil)}`})
	require.Equal(t, "Healthy: nil", judge(t, r, ""))
}

func TestAScriptHasLimits(t *testing.T) {
	t.Parallel()
	// On an overloaded machine the time ends what the memory would have ended.
	const memory = "it (needed more than 128 MiB of memory|took longer than 10s)"
	tests := map[string]struct{ lua, want string }{
		"instructions": {`while true do end`, "it ran more than 1000000 instructions"},
		"instructions behind pcall": {`while true do pcall(function() while true do end end) end`,
			"it ran more than 1000000 instructions"},
		"memory at once": {`return string.rep("x", 3000000000)`,
			"line 1: string.rep makes a text of more than 1048576 bytes"},
		"memory of a search": {`local s = string.rep("x", 1000000) return (s:gsub("x", s))`,
			memory},
		"memory that grows": {`local s = "x" while true do s = s .. s end`, memory},
		"lists": {`local all = {} for i = 1, 1000 do local t = {} t[65000] = i all[i] = t end`,
			memory},
		"calls": {`local function f() return 1 + f() end f()`, "stack overflow"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rules(t, config.HealthRule{Group: "example.com", Kind: "Widget", Lua: tt.lua},
				config.HealthRule{Group: "example.com", Kind: "Gadget", Lua: `return "Healthy"`})
			require.Regexp(t, tt.want, judge(t, r, ""))
			other := widget(t, "")
			other.SetKind("Gadget")
			verdict, _ := r.Judge(t.Context(), other)
			require.Equal(t, "Healthy", verdict.String(), "the next script runs")
		})
	}
}

func TestAnExpressionHasLimits(t *testing.T) {
	t.Parallel()
	r := rules(t, config.HealthRule{Group: "example.com", Kind: "Widget",
		CEL: `object.status.l.all(a, object.status.l.all(b, object.status.l.all(c, a + b + c > 0))) ?
		      "Healthy" : "Unknown"`})
	require.Equal(t, "Healthy", judge(t, r, "{l: [1, 2, 3]}"))
	// On a busy machine the limit of its time comes first.
	require.Regexp(t, "cost limit exceeded|it took longer than 2s",
		judge(t, r, "{l: ["+strings.Repeat("1,", 300)+"1]}"))
}

func TestACancelEndsAScript(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	for _, rule := range []config.HealthRule{{Lua: `return "Healthy"`}, {CEL: `"Healthy"`}} {
		rule.Group, rule.Kind = "example.com", "Widget"
		verdict, judged := rules(t, rule).Judge(ctx, widget(t, ""))
		require.True(t, judged)
		require.ErrorContains(t, verdict.Err, "enough")
	}
}

func TestARuleThatCannotWorkIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rule config.HealthRule
		want string
	}{
		"a name that does not exist": {config.HealthRule{Kind: "Widget", CEL: "true ?\n  objet : null"},
			"health[0].cel: line 2, column 3: undeclared reference to 'objet'"},
		"a type that is no status": {config.HealthRule{Kind: "Widget", CEL: "1 + 1"},
			"health[0].cel: gives a value of the type int: want a status, or a map with status and message"},
		"half an expression": {config.HealthRule{Kind: "Widget", CEL: "object."}, "health[0].cel: line 1, column 8: "},
		"half a script": {config.HealthRule{Kind: "Widget", Lua: "if obj then\n  return\n"},
			"health[0].lua: line 2: the script ends too early"},
		"a wrong script": {config.HealthRule{Kind: "Widget", Lua: "local a = 1\nbreak nothing"},
			"health[0].lua: line 2, column"},
		"both": {config.HealthRule{Kind: "Widget", CEL: "null", Lua: "return nil"},
			"health[0].lua: cannot be given with cel"},
		"none":      {config.HealthRule{Kind: "Widget"}, "health[0].cel: must be given, or lua"},
		"no kind":   {config.HealthRule{CEL: "null"}, "health[0].kind: must be given"},
		"a pattern": {config.HealthRule{Group: "[", Kind: "Widget", CEL: "null"}, `health[0].group: "[" is not a name`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := health.Compile([]config.HealthRule{tt.rule})
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "\n")
		})
	}
	_, err := health.Compile([]config.HealthRule{{Kind: "A", CEL: "null"}, {Kind: "B", CEL: "("}, {Kind: "C"}})
	require.ErrorContains(t, err, "health[1].cel: line 1")
	require.ErrorContains(t, err, "\nhealth[2].cel: must be given, or lua")
}

func BenchmarkJudge(b *testing.B) {
	for name, rule := range map[string]config.HealthRule{"CEL": {CEL: readyByCEL}, "Lua": {Lua: readyByLua}} {
		b.Run(name, func(b *testing.B) {
			rule.Group, rule.Kind = "example.com", "Widget"
			r, err := health.Compile([]config.HealthRule{rule})
			require.NoError(b, err)
			defer r.Close()
			o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget",
				"status": map[string]any{"replicas": int64(2)}}}
			for b.Loop() {
				_, _ = r.Judge(b.Context(), o)
			}
		})
	}
}

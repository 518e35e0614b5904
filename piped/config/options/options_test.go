// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/config/options"
)

// catalogue reads the schemas that the plugins of this repository ship, and those of PipeCD's.
func catalogue(t *testing.T) []options.Plugin {
	t.Helper()
	schemas := map[string][]byte{}
	for pattern, name := range map[string]func(string) string{
		"../../../plugins/*/schema.json": func(path string) string { return filepath.Base(filepath.Dir(path)) },
		"../../../plugins/frozen/*.json": func(path string) string {
			return strings.TrimSuffix(filepath.Base(path),
				".json")
		},
	} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			schemas[name(file)], err = os.ReadFile(file)
			require.NoError(t, err)
		}
	}
	known, err := options.Catalogue(schemas)
	require.NoError(t, err)
	return known
}

// only returns plugins of the catalogue.
func only(t *testing.T, names ...string) []options.Plugin {
	t.Helper()
	list := []options.Plugin{}
	for _, plugin := range catalogue(t) {
		for _, name := range names {
			if plugin.Name == name {
				list = append(list, plugin)
			}
		}
	}
	require.Len(t, list, len(names))
	return list
}

func check(c *options.Checker, text string) *config.Report {
	report := config.Check([]byte(text), "app.pipecd.yaml")
	c.CheckOptions(report)
	c.CheckTogether(report)
	return report
}

func pipeline(stages ...string) string {
	text := "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: a\n  pipeline:\n    stages:\n"
	for _, stage := range stages {
		text += "      - " + stage + "\n"
	}
	return text
}

func TestMistakesInOptionsHaveTheirPlaces(t *testing.T) {
	t.Parallel()
	report := check(&options.Checker{Catalogue: catalogue(t)}, `apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: a
  pipeline:
    stages:
      - name: K8S_CANARY_ROLLOUT
        with: {replicas: 10 percent, sufix: x, ours: 1}
      - name: K8S_MULTI_TRAFFIC_ROUTING
        with: {all: none, primary: 50, canary: "50%"}
      - name: WAIT
      - name: WAIT
        with: {}
      - name: ANALYSIS
        with: {duration: 5m, metrics: [{expected: {max: 0.5, min: low}, deviation: BOTH,
            provider: p, query: q, interval: 1m}]}
  plugins:
    kubernetes: {input: {manifests: a.yaml, aNewKey: 1}}
    terraform: {input: {workspace: prod}}
    other: {input: 1}
`)
	require.Equal(t, strings.TrimSpace(`
app.pipecd.yaml:8:26: spec.pipeline.stages[0].with.replicas: "10 percent" is not allowed here: `+
		`want a whole number or a percentage such as "50%"
app.pipecd.yaml:8:38: spec.pipeline.stages[0].with.sufix: unknown key "sufix" is not read; did you mean "suffix"?
app.pipecd.yaml:8:48: spec.pipeline.stages[0].with.ours: unknown key "ours" is not read; `+
		`known keys are createService, patches, replicas, suffix
app.pipecd.yaml:10:15: spec.pipeline.stages[1].with: a mapping is not allowed here: want either all or primary, not both
app.pipecd.yaml:10:21: spec.pipeline.stages[1].with.all: "none" is not allowed here: want primary or canary or baseline
app.pipecd.yaml:11:9: spec.pipeline.stages[2].with.duration: is required and must not be empty
app.pipecd.yaml:13:15: spec.pipeline.stages[3].with.duration: is required and must not be empty
app.pipecd.yaml:15:67: spec.pipeline.stages[4].with.metrics[0].expected.min: "low" is not allowed here: want a number
app.pipecd.yaml:15:84: spec.pipeline.stages[4].with.metrics[0].deviation: "BOTH" is not allowed here: `+
		`want EITHER or LOW or HIGH
app.pipecd.yaml:18:37: spec.plugins.kubernetes.input.manifests: "a.yaml" is not allowed here: want a list
app.pipecd.yaml:18:45: spec.plugins.kubernetes.input.aNewKey: unknown key "aNewKey" is not read; `+
		`known keys are autoCreateNamespace, failureGrace, helmChart, helmOptions, helmVersion, kubectlVersion, `+
		`kustomizeOptions, kustomizeVersion, manifests, namespace, rolloutTimeout, waitReady`),
		report.Errors.Error())
	require.Contains(t, report.Warnings.Error(),
		`app.pipecd.yaml:19:17: spec.plugins.terraform.input: input is a key of PipeCD v0 and is not read`)
}

func TestTextsThatTerraformRefusesHaveTheirPlaces(t *testing.T) {
	t.Parallel()
	report := check(&options.Checker{Catalogue: catalogue(t)}, pipeline("{name: TERRAFORM_PLAN}")+`  plugins:
    terraform:
      workspace: a b
      terraformVersion: latest
      commandFlags: {plan: [-lock=true, -out=x]}
`)
	require.Equal(t, strings.TrimSpace(`
app.pipecd.yaml:10:18: spec.plugins.terraform.workspace: "a b" is not allowed here: `+
		`want a name of letters, digits and - _ . without spaces and slashes
app.pipecd.yaml:11:25: spec.plugins.terraform.terraformVersion: "latest" is not allowed here: `+
		`want a version such as 1.8.0, or a constraint such as ">= 1.8, < 2"
app.pipecd.yaml:12:41: spec.plugins.terraform.commandFlags.plan[1]: "-out=x" is not allowed here: `+
		`want no -out, because the plugin chooses the file of the plan, which it applies later`), report.Errors.Error())
}

func TestSharesThatASelectorDoesNotHaveAreWarnings(t *testing.T) {
	t.Parallel()
	c := &options.Checker{Catalogue: catalogue(t)}
	for stage, warned := range map[string]bool{
		"{name: K8S_TRAFFIC_ROUTING, with: {all: canary}}":                false,
		"{name: K8S_TRAFFIC_ROUTING, with: {primary: 100}}":               false,
		"{name: K8S_TRAFFIC_ROUTING, with: {canary: '100%'}}":             false,
		"{name: K8S_TRAFFIC_ROUTING, with: {canary: 50}}":                 true,
		"{name: K8S_TRAFFIC_ROUTING, with: {primary: 90, baseline: 10%}}": true,
		"{name: K8S_TRAFFIC_ROUTING, with: {all: baseline}}":              true,
		"{name: K8S_MULTI_TRAFFIC_ROUTING, with: {canary: 50}}":           true,
	} {
		report := check(c, pipeline(stage))
		require.Empty(t, report.Errors, stage)
		if !warned {
			require.Empty(t, report.Warnings, stage)
			continue
		}
		require.Len(t, report.Warnings, 1, stage)
		require.Contains(t, report.Warnings[0].Error(), "app.pipecd.yaml:7:", stage)
		require.Contains(t, report.Warnings[0].Error(), "the selector of a Service has no shares", stage)
		created := strings.NewReplacer("{canary: 50}", "{createService: true}", "{primary: 90, baseline: 10%}", "{}",
			"{all: baseline}", "{}", "TRAFFIC_ROUTING", "CANARY_ROLLOUT").Replace(stage)
		routed := pipeline(stage, created) + "  plugins: {kubernetes: {trafficRouting: {method: istio}}, " +
			"kubernetes_multicluster: {trafficRouting: {method: gateway}}}\n"
		require.Empty(t, check(c, routed).Warnings, stage)
	}
}

func TestOptionsOfStagesWhereV0HadThemAreWarnings(t *testing.T) {
	t.Parallel()
	report := check(&options.Checker{Catalogue: catalogue(t)}, pipeline(
		"{name: WAIT_APPROVAL, with: {approvers: [ann], timeout: 1h}}",
		"{name: SCRIPT_RUN, timeout: 1h, with: {run: a, timeout: 1h, skipOn: {paths: [a]}}}",
	))
	require.Empty(t, report.Errors)
	require.Equal(t, strings.TrimSpace(`
app.pipecd.yaml:7:56: spec.pipeline.stages[0].with.timeout: is where PipeCD v0 had it and is not read: `+
		`it belongs next to the name of the stage; "pipedeck migrate app.pipecd.yaml" moves it there
app.pipecd.yaml:8:69: spec.pipeline.stages[1].with.skipOn: is where PipeCD v0 had it and is not read: `+
		`it belongs next to the name of the stage; "pipedeck migrate app.pipecd.yaml" moves it there`),
		report.Warnings.Error())
}

func TestAPluginWithoutASchemaMayHaveAnyStage(t *testing.T) {
	t.Parallel()
	with := func(plugins ...options.Plugin) *config.Report {
		c := &options.Checker{Catalogue: catalogue(t), Plugins: plugins, Where: "the plugins of this environment"}
		return check(c, pipeline("{name: HEALTH_GATE, with: {anything: 1}}"))
	}
	wait := only(t, "wait")[0]
	require.Empty(t, with(options.Plugin{Name: "gate"}).Errors)
	require.Empty(t, with(options.Plugin{Name: "wait", Schema: wait.Schema, Stages: []string{"HEALTH_GATE"}}).Errors)
	require.ErrorContains(t, with(wait).Errors,
		`no plugin in the plugins of this environment has the stage "HEALTH_GATE"`)
	require.ErrorContains(t, check(&options.Checker{Catalogue: catalogue(t)}, pipeline("{name: HEALTH_GATE}")).Errors,
		`no plugin of PipeCD has the stage "HEALTH_GATE"; if a plugin of yours has it, `+
			`name its program: pipedeck validate --plugin NAME=PATH`)
}

func TestNullCountsAsNotGiven(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		pipeline("{name: K8S_CANARY_ROLLOUT, with: {replicas: null, suffix: null, createService: null, patches: null}}",
			"{name: K8S_CANARY_CLEAN, with: null}", "{name: WAIT_APPROVAL, with: {approvers: null, "+
				"minApproverNum: null}}") +
			"  labels: null\n  plugins: {kubernetes: {input: null, service: {kind: null}, workloads: null, " +
			"variantLabel: null}}\n",
		pipeline("{name: K8S_MULTI_SYNC, with: {failurePolicy: null, multiTargets: ~}}"),
		"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: a\n  plugins: {kubernetes: null}\n",
	} {
		report := check(&options.Checker{Catalogue: catalogue(t)}, text)
		require.Empty(t, report.Errors, text)
		require.Empty(t, report.Warnings, text)
	}
	report := check(&options.Checker{Catalogue: catalogue(t)}, pipeline("{name: WAIT, with: {duration: null}}"))
	require.ErrorContains(t, report.Errors, "spec.pipeline.stages[0].with.duration: is required")
}

func TestASchemaThatIsWrongIsAnError(t *testing.T) {
	t.Parallel()
	for document, says := range map[string]string{
		`{`:  "not JSON",
		`[]`: "no definitions",
		`{"definitions": {"config": {"type": "strange"}}}`:                               "cannot be used",
		`{"definitions": {"config": {"$ref": "#/definitions/nowhere"}}}`:                 "cannot be used",
		`{"definitions": {"config": {"$ref": "https://example.com/a.json"}}}`:            "may refer to itself only",
		`{"definitions": {"config": {"$ref": "file:///etc/passwd"}}}`:                    "may refer to itself only",
		`{"definitions": {"config": {"pattern": "("}}}`:                                  "cannot be used",
		`{"definitions": {"stages": {"properties": {"A": {"$ref": "#/definitions/b"}}}}`: "not JSON",
		strings.Repeat(" ", options.MaxSchema+1):                                         "larger than",
	} {
		_, err := options.Parse([]byte(document))
		require.ErrorContains(t, err, says, document[:min(len(document), 80)])
	}
}

func TestASchemaThatRefersToItselfWithoutEndIsReported(t *testing.T) {
	t.Parallel()
	for _, a := range []string{`{"$ref": "#/definitions/b"}`,
		`{"allOf": [{"$ref": "#/definitions/b"}, {"$ref": "#/definitions/b"}]}`} {
		schema, err := options.Parse(
			[]byte(`{"definitions": {"stages": {"properties": {"A": {"$ref": "#/definitions/a"}}},
			"a": ` + a + `, "b": {"$ref": "#/definitions/a"}}}`))
		require.NoError(t, err)
		c := &options.Checker{Catalogue: []options.Plugin{{Name: "a", Schema: schema}}}
		require.ErrorContains(t, check(c, pipeline("{name: A, with: {b: 1}}")).Errors, "spec.pipeline.stages[0].with")
	}
}

// FuzzSchema feeds schemas of anyone's programs: they are refused or used, and the process goes on.
func FuzzSchema(f *testing.F) {
	for _, seed := range []string{
		`{"definitions": {"stages": {"properties": {"A": {"$ref": "#/definitions/a"}}}, "a": {"required": ["b"], ` +
			`"additionalProperties": false}}}`,
		`{"definitions": {"stages": {"properties": {"A": {"anyOf": [{"type": "string"}, {"enum": [1, null]}], ` +
			`"patternErrorMessage": 7}}}}}`,
		`{"definitions": {"stages": {"properties": {"A": {"properties": {"b": {"deprecated": true, "not": {}}}, ` +
			`"propertyNames": false}}}}}`,
		`{"definitions": {"stages": {"properties": {"A": true}}, "spec": {"$ref": "#"}}}`,
		`{"definitions": {"stages": {"properties": {"A": {"if": true, ` +
			`"then": {"$ref": "#/definitions/stages/properties/A"}}}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		schema, err := options.Parse(document)
		if err != nil {
			return
		}
		plugins := []options.Plugin{{Name: "a", Schema: schema}}
		check(&options.Checker{Catalogue: plugins}, pipeline("{name: A, with: {b: [1, {c: text}]}}"))
		_, err = options.Compose("application", plugins)
		require.NoError(t, err)
	})
}

func TestAComposedSchemaCompletesTheOptionsOfAnyPlugin(t *testing.T) {
	t.Parallel()
	schema, err := options.Parse(
		[]byte(`{"definitions": {"stages": {"properties": {"GREET": {"$ref": "#/definitions/greet"}}},
		"greet": {"type": "object", "additionalProperties": false, "properties": {"names": {"type": "array"}}}}}`))
	require.NoError(t, err)
	document, err := options.Compose("application",
		append(only(t, "wait"), options.Plugin{Name: "greeter", Schema: schema}))
	require.NoError(t, err)
	var composed struct {
		Definitions map[string]struct {
			Properties map[string]struct{ Enum []string }
		}
	}
	require.NoError(t, json.Unmarshal(document, &composed))
	require.Equal(t, []string{"GREET", "WAIT"}, composed.Definitions["Stage"].Properties["name"].Enum)
	require.Contains(t, composed.Definitions["greeter.greet"].Properties, "names")
	require.NotContains(t, string(document), "kubernetes.")
	_, err = options.Compose("other", nil)
	require.ErrorContains(t, err, "want application or piped")
}

var expectation = regexp.MustCompile(`# (error|warning): ([^#]*)`)

// TestWhatOnlyAllFilesShowIsReported reads repositories whose comments say what is wrong with their lines.
func TestWhatOnlyAllFilesShowIsReported(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/together/*")
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			c := &options.Checker{Catalogue: catalogue(t), Where: "spec.plugins of piped.yaml"}
			var reports []*config.Report
			var contents []string
			require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				data, err := os.ReadFile(path)
				report := config.Check(data, path)
				reports, contents = append(reports, report), append(contents, string(data))
				if report.Piped != nil {
					for _, configured := range report.Piped.Plugins {
						plugin := options.Plugin{Name: configured.Name, Stages: configured.Stages}
						for _, known := range c.Catalogue {
							if known.Name == configured.Name {
								plugin.Schema = known.Schema
							}
						}
						c.Plugins = append(c.Plugins, plugin)
					}
				}
				return err
			}))
			for _, report := range reports {
				c.CheckOptions(report)
			}
			c.CheckTogether(reports...)
			for i, report := range reports {
				requireExpected(t, contents[i], report)
			}
		})
	}
}

// TestValuesThatMeanNothingAreRefused reads files whose comments say what is wrong with their lines. Every line is
// wrong in these ways, and no other line is wrong.
func TestValuesThatMeanNothingAreRefused(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/refused/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			report := config.Check(data, file)
			(&options.Checker{Catalogue: catalogue(t)}).CheckOptions(report)
			requireExpected(t, string(data), report)
		})
	}
}

// requireExpected compares what is reported of a file with its comments.
func requireExpected(t *testing.T, text string, report *config.Report) {
	t.Helper()
	lines := strings.Split(text, "\n")
	found := map[string][]string{}
	for severity, list := range map[string]config.Errors{"error": report.Errors, "warning": report.Warnings} {
		for _, e := range list {
			require.Positive(t, e.Column, e.Error())
			key := severity + " in line " + lines[e.Line-1]
			found[key] = append(found[key], e.Error())
		}
	}
	for _, line := range lines {
		for _, want := range expectation.FindAllStringSubmatch(line, -1) {
			key := want[1] + " in line " + line
			require.Contains(t, strings.Join(found[key], "\n"), strings.TrimSpace(want[2]), key)
		}
		if expectation.MatchString(line) {
			delete(found, "error in line "+line)
			delete(found, "warning in line "+line)
		}
	}
	require.Empty(t, found, "what no comment says")
}

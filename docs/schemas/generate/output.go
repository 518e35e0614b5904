// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/plugins/sdk/optionschema"
	cli "github.com/pipedeck/pipedeck/tui/document"
)

// documentSources is the folder of the types of what commands print.
const documentSources = "tui/document"

// printed is one document that commands print.
type printed struct {
	// name is that of the schema; title names the commands.
	name, title string
	value       any
}

// documents are all documents of -o json, in the order of the page.
func documents() []printed {
	return []printed{
		{"status", "pipedeck status", cli.Status{}},
		{"applications", "pipedeck apps", cli.Applications{}},
		{"deployments", "pipedeck deployments and history", cli.Deployments{}},
		{"plugins", "pipedeck plugins", cli.Plugins{}},
		{"resources", "pipedeck tree and diff", cli.Resources{}},
		{"application-events", "pipedeck events", cli.ApplicationEvents{}},
		{"environments", "pipedeck list", cli.Environments{}},
		{"action", "pipedeck sync, retry, rollback, approve, skip, cancel and restart", cli.Action{}},
		{"opened", "pipedeck open", cli.Opened{}},
		{"plan-preview", "pipedeck plan-preview and diff --commit", cli.PlanPreview{}},
		{"removal", "pipedeck down", cli.Removal{}},
		{"exported", "pipedeck export", cli.Exported{}},
		{"doctor", "pipedeck doctor", cli.Doctor{}},
		{"caches", "pipedeck clean", cli.Caches{}},
		{"version", "pipedeck version", cli.Version{}},
		{"verification", "pipedeck version --verify", cli.Verification{}},
		{"registered-piped", "pipedeck piped register", cli.RegisteredPiped{}},
		{"validation", "pipedeck validate", cli.Validation{}},
		{"migrations", "pipedeck migrate", cli.Migrations{}},
		{"initialization", "pipedeck init", cli.Initialization{}},
		{"event-registration", "pipedeck event register", cli.EventRegistration{}},
		{"registered-events", "pipedeck event list", cli.RegisteredEvents{}},
		{"faults", "pipedeck fault add, list and clear", cli.Faults{}},
		{"encrypted", "pipedeck encrypt", cli.Encrypted{}},
		{"plugin-binaries", "pipedeck plugin list, info, install and verify", cli.Binaries{}},
		{"plugin-index", "pipedeck plugin list and info with --index", cli.PluginIndex{}},
		{"plugin-push", "pipedeck plugin push", cli.Push{}},
		{"plugin-signing", "pipedeck plugin sign", cli.Signing{}},
		{"plugin-test", "pipedeck plugin test", cli.PluginTest{}},
		{"plugin-test-list", "pipedeck plugin test --list", cli.PluginCases{}},
		{"breakpoints", "pipedeck break and break show", cli.Breakpoints{}},
		{"plugin-calls", "pipedeck plugin calls and show", cli.PluginCalls{}},
		{"plugin-replay", "pipedeck plugin replay", cli.Replay{}},
		{"plugin-new", "pipedeck plugin new", cli.NewPluginSources{}},
		{"plugin-protos", "pipedeck plugin protos", cli.WrittenProtocol{}},
		{"plugin-schema", "pipedeck plugin schema", cli.EditorSchema{}},
	}
}

// lines are the event lines, by their type.
func lines() []printed {
	return []printed{
		{"component", "a part of the environment has changed", cli.ComponentLine{}},
		{"application", "an application has changed", cli.ApplicationLine{}},
		{"deployment", "a deployment has changed", cli.DeploymentLine{}},
		{"stage", "a stage has changed, or its progress", cli.StageLine{}},
		{"log", "a stage has written a block of its log; also pipedeck logs -o json", cli.LogLine{}},
		{"plugin", "a plugin process has changed", cli.PluginLine{}},
		{"plugin_call", "a call between piped and a plugin has ended; pipedeck plugin calls -f -o json",
			cli.PluginCallLine{}},
		{"build", "a build of a plugin has begun or ended; pipedeck plugin dev -o json", cli.BuildLine{}},
		{"rerun", "a re-run of a stage has begun or ended; pipedeck plugin dev and rerun -o json", cli.RerunLine{}},
		{"problem", "a problem has come or gone", cli.ProblemLine{}},
		{"story", "a story says something else; only a recorded one, and one to which you attach", cli.StoryLine{}},
		{"switch", "the deployments of a base have ended, and those of HEAD begin; only ci --from", cli.SwitchLine{}},
		{"result", "how the command ends; the last line", cli.ResultLine{}},
		{"plugin_log", "a line of pipedeck logs --plugin NAME -o json", cli.PluginLogLine{}},
	}
}

// words are the values of the fields with a tag words.
func words() map[string][]string {
	return map[string][]string{
		"sync":        wordsOf[deckv1.SyncStatus](deckv1.SyncStatus_name),
		"health":      {"UNSPECIFIED", "UNKNOWN", "HEALTHY", "UNHEALTHY"},
		"deployment":  wordsOf[deckv1.DeploymentStatus](deckv1.DeploymentStatus_name),
		"trigger":     wordsOf[deckv1.DeploymentTrigger](deckv1.DeploymentTrigger_name),
		"stage":       wordsOf[deckv1.StageStatus](deckv1.StageStatus_name),
		"plugin":      {"UNKNOWN", "STARTING", "RUNNING", "RESTARTING", "FAILED", "STOPPED"},
		"component":   wordsOf[deckv1.Component_State](deckv1.Component_State_name),
		"piped":       wordsOf[deckv1.Piped_State](deckv1.Piped_State_name),
		"direction":   {"TO_PLUGIN", "TO_PIPED"},
		"severity":    wordsOf[deckv1.Severity](deckv1.Severity_name),
		"problem":     {cli.ProblemPresent, cli.ProblemCleared},
		"environment": {cli.Running, cli.Starting, cli.Stopped, cli.Killed, cli.Unreadable},
		"removal":     {cli.Removed, cli.NotExisting, cli.Left},
		"event":       eventWords(),
		"change":      {"UNSPECIFIED", "LIVE", "GIT", "BOTH", "APPLIED"},
		"happened": {cli.DeploymentCreated, cli.StageStarted, cli.StageApproved, cli.StageEnded,
			cli.DeploymentEnded},
		"doctor":  {"ok", "warn", "fail"},
		"mistake": {"error", "warning"},
		"binary":  {"local", "missing", "fetched", "downloaded", "unchanged", "stale"},
		"build":   {cli.BuildRunning, cli.BuildDone, cli.BuildFailed},
		"check":   {"passed", "failed", "noted", "n/a"},
	}
}

func eventWords() (all []string) {
	for _, number := range slices.Sorted(maps.Keys(deckv1.EventStatus_name)) {
		all = append(all, cli.EventWord(deckv1.EventStatus(number)))
	}
	return all
}

// wordsOf returns the words for the values of an enum.
func wordsOf[E interface {
	~int32
	fmt.Stringer
}](names map[int32]string) (all []string) {
	for _, number := range slices.Sorted(maps.Keys(names)) {
		all = append(all, cli.Word(E(number)))
	}
	return all
}

// outputs adds the schemas of what commands print.
func outputs(root string, files map[string][]byte) error {
	comments, err := optionschema.ReadComments(filepath.Join(root, documentSources))
	if err != nil {
		return err
	}
	for _, of := range documents() {
		schema, definitions, err := outputSchema(comments, of.value)
		if err != nil {
			return err
		}
		if err := addOutput(files, of.name, "Document of "+of.title, schema, definitions); err != nil {
			return err
		}
	}
	branches, all := []any{}, object{}
	for _, of := range lines() {
		schema, definitions, err := outputSchema(comments, of.value)
		if err != nil {
			return err
		}
		maps.Copy(all, definitions)
		line := all[strings.TrimPrefix(schema["$ref"].(string), "#/definitions/")].(object)
		line["properties"].(object)["type"].(object)["const"] = of.name
		branches = append(branches, schema)
	}
	outcome, err := outcomeLine(root, all)
	if err != nil {
		return err
	}
	branches = append(branches, outcome)
	return addOutput(files, "event", "Event line of --output json and of pipedeck logs -o json",
		object{"oneOf": branches}, all)
}

func addOutput(files map[string][]byte, name, title string, schema, definitions object) (err error) {
	path := filepath.Join(published, "cli", name+".json")
	schema["$schema"], schema["title"], schema["definitions"] = optionschema.Draft, title, definitions
	schema["$id"] = optionschema.PublishedAt(path)
	files[path], err = optionschema.Encode(schema)
	return err
}

// outputSchema is the schema of a value that is printed. Unlike configuration, programs must accept fields that are not
// known, and no value is null.
func outputSchema(comments optionschema.Comments, value any) (schema, definitions object, err error) {
	g := optionschema.NewGenerator(comments)
	g.Rules = outputRules
	schema = g.Reference(reflect.TypeOf(value))
	if definitions, err = g.Definitions(); err != nil {
		return nil, nil, err
	}
	data, err := json.Marshal(definitions) // so that all parts have the types of JSON
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(data, &definitions); err != nil {
		return nil, nil, err
	}
	open(definitions)
	return schema, definitions, nil
}

// outputRules are those of the tags words and format. A field is required unless it may be left out.
func outputRules(field reflect.StructField, property object) (required bool) {
	at := property
	if items, is := property["items"].(object); is {
		at = items
	}
	if name := field.Tag.Get("words"); name != "" {
		at["enum"] = values(words()[name])
	}
	if format := field.Tag.Get("format"); format != "" {
		at["format"] = format
	}
	if field.Name == "Schema" {
		property["const"] = cli.Schema
	}
	_, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	return !strings.Contains(options, "omitempty")
}

// open changes a schema of configuration into one of output.
func open(part any) {
	switch part := part.(type) {
	case []any:
		for _, one := range part {
			open(one)
		}
	case object:
		for name, one := range part {
			switch name {
			case "minLength", "minItems":
				delete(part, name)
				continue
			case "additionalProperties":
				if one == false {
					delete(part, name)
					continue
				}
			case "type", "enum":
				part[name] = withoutNull(one)
				continue
			}
			open(one)
		}
	}
}

// withoutNull returns the types or values of a schema without null.
func withoutNull(of any) any {
	list, is := of.([]any)
	if !is {
		if inner, is := of.(object); is { // a property that is called type
			open(inner)
		}
		return of
	}
	list = slices.DeleteFunc(list, func(one any) bool { return one == nil || one == "null" })
	if len(list) == 1 && list[0] != nil {
		return list[0]
	}
	return list
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package story_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/story"
)

// samples are those that a story may name: each holds one application of its name.
var samples = story.Samples{
	Names:   []string{"hello-world", "failing-canary", "dag"},
	Plugins: []string{"a", "wait"},
	Refuse: func(plugin string) error {
		if plugin == "wait" {
			return errors.New("wait is the name of a plugin of PipeCD")
		}
		return nil
	},
	Walk: func(sample string, fn func(file string, content []byte) error) error {
		config := "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: " + sample + "\n"
		return errors.Join(fn("app/app.pipecd.yaml", []byte(config)), fn("app/web.yaml", []byte("image: web:v1\n")))
	},
}

const head = "apiVersion: pipedeck.dev/v1\nkind: Story\ntitle: A title\nsample: hello-world\nsteps:\n"

func TestAStepKnowsItsPlace(t *testing.T) {
	t.Parallel()
	s, err := story.Parse([]byte(head+"  - say: Hello\n    await:\n      deployment: hello-world\n"+
		"      status: SUCCESS\n  - say: Bye\n"), "my.yaml", samples)
	require.NoError(t, err)
	require.Equal(t, "my.yaml:6", s.Place(0, false))
	require.Equal(t, "my.yaml:8", s.Place(0, true))
	require.Equal(t, "my.yaml:10", s.Place(1, false))
}

func TestMistakesInAStoryAreNamedWithTheirPlaces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ content, want string }{
		"another file": {"kind: Application\n",
			`f.yaml:1:7: kind: "Application" is not allowed here: want Story`},
		"an unknown sample": {strings.Replace(head, "hello-world", "hello", 1) + "  - say: x\n",
			`f.yaml:4:9: sample: unknown sample "hello"`},
		"a misspelled key": {head + "  - sya: x\n", `did you mean "say"?`},
		"a key that may be either of two": {"apiVersion: pipedeck.dev/v1\nkile: Story\n",
			`f.yaml:2:1: kile: unknown key`},
		"no caption":    {head + "  - show: log\n", "f.yaml:6:5: steps[0]: has no caption"},
		"an empty step": {head + "  - say: x\n  - application: a\n", "steps[1]: does nothing"},
		"an unknown pane": {head + "  - say: x\n    show: logs\n",
			`steps[0].show: "logs" is not allowed here`},
		"two changes": {head + "  - say: x\n    sync: a\n    rollback: a\n", "makes 2 changes"},
		"no subject": {head + "  - say: x\n    await: {status: SUCCESS}\n",
			"needs one of deployment, application and plugin"},
		"a stage's status": {head + "  - say: x\n    await: {deployment: a, status: WAITING}\n",
			`steps[0].await.status: "WAITING" is not allowed here: want PENDING`},
		"a key of others": {head + "  - say: x\n    await: {plugin: a, state: RUNNING, sync: SYNCED}\n",
			"sync: is not read without application"},
		"too long a wait": {head + "  - say: x\n    await: {plugin: a, state: RUNNING, within: 1h}\n",
			"at most 10m0s"},
		"a path outside": {head + "  - say: x\n    edit: {file: ../a, replace: b, with: c, message: d}\n",
			"is not a path in the sample repository"},
		"the repository": {head + "  - say: x\n    edit: {file: .git/config, replace: b, with: c, message: d}\n",
			"is not a path in the sample repository"},
		"nothing committed": {head + "  - say: x\n    edit: {file: a, replace: b, with: c}\n",
			"is never committed"},
		"a stage without a pane": {head + "  - say: x\n    stage: a\n    application: b\n",
			"f.yaml:7:12: steps[0].stage: is not read without show and application"},
		"an inspector of nothing": {head + "  - say: x\n    show: inspector\n",
			"f.yaml:7:11: steps[0].show: shows a stage"},
		"no plugin to edit": {head + "  - say: x\n    editPlugin: {replace: b, with: c}\n",
			"steps[0].editPlugin: is not read without plugin"},
		"a plugin that is edited outside": {"plugin: a\n" + head +
			"  - say: x\n    editPlugin: {file: ../a, replace: b, with: c}\n",
			"is not a path in the directory of the plugin"},
		"no name for a plugin": {"plugin: A b\n" + head + "  - say: x\n", `f.yaml:1:9: plugin: "A b" is no name`},
		"the name of another plugin": {"plugin: wait\n" + head + "  - say: x\n",
			"f.yaml:1:9: plugin: wait is the name of a plugin of PipeCD: choose another name, such as my-wait"},
		"a plugin that is not there": {"plugin: b\n" + head + "  - say: x\n    killPlugin: c\n",
			`f.yaml:8:17: steps[0].killPlugin: the environment has no plugin "c"; known are: a, wait, b`},
		"a plugin that never comes": {head + "  - say: x\n    await: {plugin: c, state: RUNNING}\n",
			`steps[0].await.plugin: the environment has no plugin "c"`},
		"no time to wait": {head + "  - say: x\n    await: {plugin: a, state: RUNNING, within: 0s}\n",
			"within: 0s is not allowed here: at least 1s"},
		"reloads of nothing": {head + "  - say: x\n    await: {deployment: a, status: SUCCESS, reloads: 1}\n",
			"reloads: is not read without plugin"},
		"fewer reloads than none": {head + "  - say: x\n    await: {plugin: a, state: RUNNING, reloads: -1}\n",
			"reloads: -1 is not allowed here"},
		"no path of objects": {head + "  - say: x\n    patch: {path: /healthz, merge: {a: b}}\n",
			"is not the path of an object"},
		"a merge of text": {head + "  - say: x\n    patch: {path: /api/v1/nodes/a, merge: b}\n",
			"steps[0].patch.merge: is not a mapping"},
		"a long caption": {head + "  - say: " + strings.Repeat("x", 301) + "\n",
			"has 301 characters; 300 are the most"},
		"a blank caption": {head + "  - say: \"  \"\n", "f.yaml:6:10: steps[0].say: is blank"},
		"a caption that clears the screen": {head + "  - say: \"a\\u009b2J\"\n",
			"steps[0].say: holds control characters"},
		"a wait without its unit": {
			head + "  - say: x\n    await: {deployment: hello-world, status: SUCCESS, within: 30}\n",
			"within: 30ns is not allowed here: at least 1s; write it with its unit, such as 30s"},
		"too many steps": {head + strings.Repeat("  - say: x\n", 101), "has 101 steps; 100 are the most"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := story.Parse([]byte(c.content), "f.yaml", samples)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestAStoryIsRehearsedOnTheFilesOfItsSample(t *testing.T) {
	t.Parallel()
	edit := func(file, replace, with string) string {
		return "  - say: x\n    edit: {file: " + file + ", replace: \"" + replace + "\", with: \"" + with +
			"\", message: m}\n"
	}
	for name, c := range map[string]struct{ steps, want string }{
		"edits one after another": {edit("app/web.yaml", "v1", "v2") + edit("app/web.yaml", "v2", "v1"), ""},
		"an application that an edit renames": {edit("app/app.pipecd.yaml", "hello-world", "web") +
			"  - sync: web\n  - rollback: hello-world\n", ""},
		"a broken configuration": {edit("app/app.pipecd.yaml", "kind", "find") + "  - sync: hello-world\n", ""},
		"a misspelled file": {edit("app/wbe.yaml", "v1", "v2"), "f.yaml:7:18: steps[0].edit.file: the sample " +
			"hello-world has no file \"app/wbe.yaml\"; it has: app/app.pipecd.yaml, app/web.yaml"},
		"a text that an edit has replaced": {edit("app/web.yaml", "v1", "v2") + edit("app/web.yaml", "v1", "v3"),
			"f.yaml:9:41: steps[1].edit.replace: app/web.yaml does not hold this text at this step"},
		"an application that is shown": {"  - say: x\n    show: log\n    application: hello\n",
			"f.yaml:8:18: steps[0].application: the sample hello-world has no application \"hello\"; " +
				"it has: hello-world"},
		"a deployment": {"  - say: x\n    await: {deployment: hello, status: SUCCESS}\n",
			"steps[0].await.deployment: the sample hello-world has no application \"hello\""},
		"a comparison with Git": {"  - say: x\n    await: {application: hello, sync: SYNCED}\n",
			"steps[0].await.application: the sample"},
		"an approval": {"  - say: x\n    approve: {application: hello, stage: a}\n",
			"approve.application: the sample"},
		"a sync":     {"  - say: x\n    sync: hello\n", "steps[0].sync: the sample"},
		"a rollback": {"  - say: x\n    rollback: hello\n", "steps[0].rollback: the sample"},
		"not yet there": {"  - say: x\n    sync: web\n" + edit("app/app.pipecd.yaml", "hello-world", "web"),
			"steps[0].sync"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := story.Parse([]byte(head+c.steps), "f.yaml", samples)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestOnlyFilesThatSaySoAreStories(t *testing.T) {
	t.Parallel()
	require.True(t, story.Claimed([]byte(head)))
	require.True(t, story.Claimed([]byte("\ufeff"+strings.ReplaceAll(head, "\n", "\r\n"))))
	for _, form := range []string{"\"apiVersion\": pipedeck.dev/v1\nkind: Story\n", "apiVersion : pipedeck.dev/v1\n",
		"{kind: Story, apiVersion: pipedeck.dev/v1}",
		"{\n  \"title\": \"x\",\n  \"apiVersion\": \"pipedeck.dev/v1\"\n}"} {
		require.True(t, story.Claimed([]byte(form)), form)
	}
	require.False(t, story.Claimed([]byte("apiVersion: v1\nmetadata: {labels: {pipedeck.dev/target: a}}\n")))
	require.False(t, story.Claimed([]byte("apiVersion: pipecd.dev/v1beta1\n")))
	require.False(t, story.Claimed(nil))
}

// FuzzParse requires that no file panics, and that every story has a place for each step.
func FuzzParse(f *testing.F) {
	for _, name := range story.Names() {
		content, err := story.Source(name)
		require.NoError(f, err)
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := story.Parse(content, "f.yaml", samples)
		if err != nil {
			return
		}
		if len(s.Steps) == 0 || len(s.Steps) > story.MaxSteps {
			t.Fatalf("a story has %d steps", len(s.Steps))
		}
		for i := range s.Steps {
			if s.Line(i, false) < 1 {
				t.Fatalf("step %d has no place", i)
			}
		}
	})
}

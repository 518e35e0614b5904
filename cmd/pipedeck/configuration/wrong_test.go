// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

// Beginnings and ends of files around the part that a row of the table shows.
const (
	application     = "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: a\n"
	stagesOf        = application + "  pipeline:\n    stages:\n      - "
	kubernetesOf    = application + "  plugins:\n    kubernetes: "
	clustersOf      = application + "  plugins:\n    kubernetes_multicluster: "
	deployed        = application + "  plugins: {kubernetes: {}}\n"
	applicationJSON = "{\n \"apiVersion\": \"pipecd.dev/v1beta1\", \"kind\": \"Application\",\n" +
		" \"spec\": {\"name\": \"a\",\n  "
	stagesJSON     = applicationJSON + "\"pipeline\": {\"stages\": [\n   "
	kubernetesJSON = applicationJSON + "\"plugins\": {\"kubernetes\":\n   "
	pipedOf        = "apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n  projectID: p\n  pipedID: i\n" +
		"  pipedKeyFile: key\n" +
		"  apiAddress: localhost:1\n"
	pluginOf  = pipedOf + "  plugins:\n    - url: file:///p\n      port: 1\n      "
	pipedJSON = "{\"apiVersion\": \"pipecd.dev/v1beta1\", \"kind\": \"Piped\", \"spec\": {\"projectID\": \"p\", " +
		"\"pipedID\": \"i\",\n" +
		" \"pipedKeyFile\": \"key\", \"apiAddress\": \"localhost:1\",\n "
)

// TestWrongConfigurationsAreRefusedAtTheRightPlace validates files whose mistake is at the mark §.
func TestWrongConfigurationsAreRefusedAtTheRightPlace(t *testing.T) {
	t.Parallel()
	rows := []struct{ text, says string }{
		// Keys of PipeCD's own part.
		{application + "  plugins: {kubernetes: {}}\n  §lables: {a: b}\n", `did you mean "labels"?`},
		{application + "  plugins: {kubernetes: {}}\n  trigger: {onCommit: {§ignore: [a]}}\n",
			`did you mean "ignores"?`},
		{deployed + "  planner: {§autoRollbak: true}\n", `did you mean "autoRollback"?`},
		{deployed + "  planner: {autoRollback: §sometimes}\n", "want true or false"},
		{deployed + "  timeout: §soon\n", "is not a duration"},
		{deployed + "  eventWatcher: [{matcher: {name: a}, handler: {type: §GIT_UPDATED, config: {replacements: " +
			"[{file: a, regex: (b)}]}}}]\n", "want GIT_UPDATE"},
		{deployed + "  notification: {mentions: [{event: §DEPLOYMENT_FAILURE}]}\n", "is not allowed here"},
		{stagesOf + "{name: WAIT, with: {duration: 1s}, §timout: 1m}\n", `did you mean "timeout"?`},
		{stagesOf + "{name: WAIT, with: §10s}\n", "want a mapping"},
		{applicationJSON + "\"plugins\": {\"kubernetes\": {}}, §\"lables\": {}}}", `did you mean "labels"?`},
		{applicationJSON + "\"plugins\": {\"kubernetes\": {}},\n \"timeout\": §true}}", "is not a duration"},
		{pipedOf + "  §apiAdress: localhost:2\n", `did you mean "apiAddress"?`},
		{pipedOf + "  syncInterval: §-1m\n", "is not a duration"},
		{pipedOf + "  secretManagement: {type: §KEYPAIR}\n", "want KEY_PAIR or AGE"},
		{pipedJSON + "§\"repositries\": []}}", `did you mean "repositories"?`},
		{pipedJSON + "\"planPreview\": {\"workerNum\": §0}}}", "want more than 0"},

		// Names of stages.
		{stagesOf + "name: §K8S_CANARY_CLEEN\n", `did you mean "K8S_CANARY_CLEAN"?`},
		{stagesOf + "name: §K8S_SYNK\n", `did you mean "K8S_SYNC"?`},
		{stagesOf + "name: §wait\n        with: {duration: 1s}\n", `did you mean "WAIT"?`},
		{stagesOf + "name: §K8S_MULTI_CANARY_ROLOUT\n", `did you mean "K8S_MULTI_CANARY_ROLLOUT"?`},
		{stagesOf + "name: §TERAFORM_PLAN\n", `did you mean "TERRAFORM_PLAN"?`},
		{stagesOf + "name: §K8S_ROLLBACK\n", "a stage that piped adds itself"},
		{stagesOf + "name: §SCRIPT_RUN_ROLLBACK\n", "a stage that piped adds itself"},
		{stagesOf + "name: §NOTHING_LIKE_IT\n", "pipedeck validate --plugin NAME=PATH"},
		{stagesJSON + "{\"name\": §\"WAIT_APPROVEL\"}]}}}", `did you mean "WAIT_APPROVAL"?`},

		// Options of stages: slips, options of others, types, values.
		{stagesOf + "{name: WAIT, with: {§duraton: 1s}}\n", `did you mean "duration"?`},
		{stagesOf + "§name: WAIT\n", "with.duration: is required"},
		{stagesOf + "{name: WAIT, with: {duration: §0s}}\n", "more than 0"},
		{stagesOf + "{name: WAIT, with: {duration: §true}}\n", "want a duration"},
		{stagesOf + "{name: WAIT, timeout: 1m, with: {duration: §1m}}\n", "does not fit in the timeout of the " +
			"stage, which is 1m"},
		{stagesOf + "{name: WAIT, with: {duration: §7h}}\n", "does not fit in the timeout of the stage, which is 6h"},
		{stagesOf + "{name: WAIT, with: {duration: 1s, §approvers: [ann]}}\n", "known keys are duration"},
		{stagesOf + "{name: WAIT_APPROVAL, with: {approvers: §ann}}\n", "want a list"},
		{stagesOf + "{name: WAIT_APPROVAL, with: {minApproverNum: §0}}\n", "want 1 at least"},
		{stagesOf + "{name: WAIT_APPROVAL, with: {minApproverNum: §two}}\n", "want a whole number"},
		{stagesOf + "{name: WAIT_APPROVAL, with: {approvers: [§1]}}\n", "write it in quotes"},
		{stagesOf + "name: SCRIPT_RUN\n        with: {run: §\"\"}\n", "is required"},
		{stagesOf + "name: SCRIPT_RUN\n        with:\n          run: a\n          env:\n            A: §1\n",
			"write it in quotes"},
		{stagesOf + "name: SCRIPT_RUN\n        with:\n          run: a\n          env: {§a=b: c}\n",
			"environment variable"},
		{stagesOf + "name: SCRIPT_RUN\n        with:\n          run: a\n          §onRolback: b\n",
			`did you mean "onRollback"?`},
		{stagesOf + "{name: K8S_SYNC, with: {§failurePolicy: any}}\n", `unknown key "failurePolicy" is not read`},
		{stagesOf + "{name: K8S_SYNC, with: {§multiTargets: [a]}}\n", `unknown key "multiTargets" is not read`},
		{stagesOf + "{name: K8S_SYNC, with: {prune: §\"yes\"}}\n", "want true or false"},
		{stagesOf + "{name: K8S_SYNC, with: {§replicas: 1}}\n", `unknown key "replicas" is not read`},
		{stagesOf + "{name: K8S_CANARY_CLEAN, with: {§prune: true}}\n", "there are no keys here"},
		{stagesOf + "{name: K8S_CANARY_ROLLOUT, with: {replicas: §half}}\n", "want a whole number or a percentage"},
		{stagesOf + "{name: K8S_CANARY_ROLLOUT, with: {replicas: §-1}}\n", "want a whole number or a percentage"},
		{stagesOf + "{name: K8S_CANARY_ROLLOUT, with: {patches: [{target: {kind: a, name: b}, ops: [{op: " +
			"§json-pach}]}]}}\n", `did you mean "json-patch"?`},
		{stagesOf + "{name: K8S_CANARY_ROLLOUT, with: {patches: [§{ops: [{path: a}]}]}}\n",
			"patches[0].target: is required"},
		{stagesOf + "{name: K8S_CANARY_ROLLOUT, with: {patches: [§7]}}\n", "want a mapping"},
		{stagesOf + "{name: K8S_TRAFFIC_ROUTING, with: {all: §green}}\n", "want primary or canary or baseline"},
		{stagesOf + "{name: K8S_TRAFFIC_ROUTING, with: {canary: §101}}\n", "want a percentage from 0 to 100"},
		{stagesOf + "{name: K8S_MULTI_SYNC, with: {failurePolicy: §sometimes}}\n", "want all, any, or {maxFailed: 1}"},
		{stagesOf + "{name: K8S_MULTI_SYNC, with: {failurePolicy: {maxFailed: §-1}}}\n", "want 0 at least"},
		{stagesOf + "{name: K8S_MULTI_SYNC, with: {failurePolicy: §3}}\n", "want all, any, or {maxFailed: 1}"},
		{stagesOf + "{name: K8S_MULTI_PRIMARY_ROLLOUT, with: {multiTargets: §all}}\n", "want a list"},
		{stagesOf + "{name: ANALYSIS, with: {duration: 9m, metrics: [{provider: p, query: q, interval: 1m, strategy: " +
			"§TRESHOLD}]}}\n",
			`did you mean "THRESHOLD"?`},
		{stagesOf + "{name: ANALYSIS, with: {duration: 9m, https: [{url: \"http://u\", interval: 1m, expectedCode: " +
			"§999}]}}\n", "want 599 at most"},
		{stagesOf + "{name: TERRAFORM_PLAN, with: {§exitOnNoChange: true}}\n", `did you mean "exitOnNoChanges"?`},
		{stagesOf + "{name: ECS_CANARY_CLEAN, with: {§scale: 1}}\n", "there are no keys here"},
		{stagesOf + "{name: ECS_CANARY_ROLLOUT, with: {scale: §200}}\n", "want a percentage"},
		{stagesOf + "{name: CLOUDRUN_PROMOTE, with: {§percentage: 5}}\n", `did you mean "percent"?`},
		{stagesJSON + "{\"name\": \"K8S_SYNC\", \"with\": {§\"prunne\": true}}]}}}", `did you mean "prune"?`},
		{stagesJSON + "{\"name\": \"WAIT\",\n    \"with\": {\"duration\": §[]}}]}}}", "want a duration"},
		{stagesJSON + "{\"name\": \"K8S_CANARY_ROLLOUT\", \"with\":\n    {\"suffix\": §1}}]}}}", "write it in quotes"},
		{stagesJSON + "{\"name\": \"ANALYSIS\", \"with\": {\"duration\": \"1m\", \"logs\": [{\"provider\": \"p\",\n" +
			"  \"query\": \"q\", \"interval\": §\"0s\"}]}}]}}}", "more than 0"},

		// Options of applications.
		{kubernetesOf + "{§inptu: {}}\n", `did you mean "input"?`},
		{kubernetesOf + "{input: {§manifest: [a]}}\n", `did you mean "manifests"?`},
		{kubernetesOf + "{input: {manifests: §a.yaml}}\n", "want a list"},
		{kubernetesOf + "{input: {§multiTargets: []}}\n", "is not read"},
		{kubernetesOf + "{quickSync: {§failurePolicy: any}}\n", `unknown key "failurePolicy" is not read`},
		{kubernetesOf + "{trafficRouting: {method: §linkerd}}\n", "want podselector or istio or gateway"},
		{kubernetesOf + "{workloads: §{kind: Deployment}}\n", "want a list"},
		{kubernetesOf + "{input: {helmChart: {§gitRemot: a}}}\n", `unknown key "gitRemot" is not read`},
		{kubernetesOf + "§7\n", "want a mapping"},
		{clustersOf + "{input: {multiTargets: [{§targets: {name: a}}]}}\n", `did you mean "target"?`},
		{clustersOf + "{quickSync: {failurePolicy: §most}}\n", "want all, any, or {maxFailed: 1}"},
		{application + "  plugins: {terraform: {vars: [§a]}}\n", "want the form NAME=value"},
		{application + "  plugins: {ecs: {input: {launchType: §LAMBDA}}}\n", "want FARGATE or EC2"},
		{application + "  plugins: {cloudrun: {input: {§serviceManifest: a}}}\n",
			`did you mean "serviceManifestFile"?`},
		{kubernetesJSON + "{§\"trafficRoutin\": {}}}}}", `did you mean "trafficRouting"?`},
		{kubernetesJSON + "{\"variantLabel\": {\"key\": §7}}}}}", "write it in quotes"},

		// Configuration of plugins and deploy targets.
		{pluginOf + "name: wait\n      config: {§allowSkipp: true}\n", `did you mean "allowSkip"?`},
		{pluginOf + "name: wait\n      config: {allowSkip: §\"true\"}\n", "want true or false"},
		{pluginOf + "name: scriptrun\n      config: {§shell: bash}\n", "there are no keys here"},
		{pluginOf + "name: kubernetes\n      config: {chartRepositories: [{name: a, address: \"https://b\", " +
			"type: §GIT}]}\n",
			"want HTTP"},
		{pluginOf + "name: kubernetes\n      config: {chartRepositories: [§{name: a}]}\n", "address: is required"},
		{pluginOf + "name: kubernetes\n      config: {chartRegistries: [{address: a, password: §1234}]}\n",
			"the value is not text: write it in quotes"},
		{pluginOf + "name: kubernetes\n      deployTargets: [{name: a, config: {§kubeConfgPath: a}}]\n",
			`did you mean "kubeConfigPath"?`},
		{pluginOf + "name: kubernetes\n      deployTargets: [{name: a, config: {connectTimeout: §0s}}]\n",
			"more than 0"},
		{pluginOf + "name: kubernetes\n      deployTargets: [{name: a, config: {appStateInformer: {§exclude: []}}}]\n",
			"known keys are excludeResources"},
		{pluginOf + "name: kubernetes\n      deployTargets: [{name: a, config: {appStateInformer: " +
			"{excludeResources: [§Secret]}}}]\n", "want a mapping"},
		{pluginOf + "name: analysis\n      config: {analysisProviders: [{name: p, type: §PROMETEUS}]}\n",
			`did you mean "PROMETHEUS"?`},
		{pluginOf + "name: ecs\n      deployTargets: [{name: a, config: {§regoin: eu}}]\n", `did you mean "region"?`},
		{pipedJSON + "\"plugins\": [{\"name\": \"wait\", \"url\": \"file:///p\", \"port\": 1,\n" +
			"  \"config\": {§\"alowSkip\": true}}]}}", `did you mean "allowSkip"?`},
		{pipedJSON + "\"plugins\": [{\"name\": \"kubernetes\", \"url\": \"file:///p\", \"port\": 1,\n" +
			"  \"deployTargets\": [{\"name\": \"a\", \"config\": {\"masterURL\": §[]}}]}]}}", "want text"},
	}
	require.GreaterOrEqual(t, len(rows), 60)
	for _, row := range rows {
		name := "app.pipecd.yaml"
		if strings.HasPrefix(row.text, "{") {
			name = "configuration.json"
		}
		requireRefused(t, name, row.text, row.says)
	}
}

// TestWrongOptionsAreRefusedAtTheRightPlace reads files from testdata: each begins with a line of what is said of its
// mistake, and words in angle brackets stand for the beginnings of files.
func TestWrongOptionsAreRefusedAtTheRightPlace(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/validate/wrong.txt")
	require.NoError(t, err)
	rows := strings.Split("\n"+string(content), "\n-- ")[1:]
	require.GreaterOrEqual(t, len(rows), 60)
	beginning := strings.NewReplacer("<application>", application, "<stage>", stagesOf, "<kubernetes>", kubernetesOf,
		"<clusters>", clustersOf, "<deployed>", deployed, "<piped>", pipedOf, "<plugin>", pluginOf)
	for _, row := range rows {
		says, text, _ := strings.Cut(row, "\n")
		requireRefused(t, "app.pipecd.yaml", beginning.Replace(text)+"\n", says)
	}
}

// requireRefused validates a file with one mistake, which is at the mark §.
func requireRefused(t *testing.T, name, text, says string) {
	t.Helper()
	before, after, marked := strings.Cut(text, "§")
	require.True(t, marked, text)
	t.Run(says, func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(file, []byte(before+after), 0o600))
		code, stdout, _ := command(t.Context(), t.TempDir(), "validate", file)
		require.Equal(t, exit.WrongUsage, code, stdout)
		line := strings.Count(before, "\n") + 1
		column := utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:]) + 1
		place := fmt.Sprintf("%s:%d:%d: error: ", file, line, column)
		found := ""
		for said := range strings.Lines(stdout) {
			if rest, here := strings.CutPrefix(said, place); here {
				found += rest
			}
		}
		require.Contains(t, found, says, "%s\n%s", text, stdout)
		require.Contains(t, stdout, "checked 1 file: 1 error, ", "%s\n%s", text, stdout)
	})
}

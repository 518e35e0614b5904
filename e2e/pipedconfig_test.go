// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/gittest"
)

// scriptApplication is the configuration of an application whose deployment is a script.
func scriptApplication(name, script, more string) string {
	return "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: " + name +
		"\n  labels: {team: " + name + "}\n  pipeline:\n    stages:\n      - name: SCRIPT_RUN\n        with:\n" +
		"          run: |\n            " + script + "\n" + more
}

// newRepository creates a repository with these files.
func newRepository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repository")
	require.NoError(t, os.Mkdir(dir, 0o700))
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	commitFiles(t, dir, files)
	return dir
}

func commitFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	gittest.Run(t, dir, "add", ".")
	gittest.Run(t, dir, "commit", "-qm", "Change files")
}

// pipedYAML writes a piped configuration with this spec into a directory.
func pipedYAML(t *testing.T, dir, spec string) string {
	t.Helper()
	path := filepath.Join(dir, "piped.yaml")
	require.NoError(t, os.WriteFile(path,
		[]byte("apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n"+spec), 0o600))
	return path
}

// webhook is a receiver of notifications.
type webhook struct {
	*httptest.Server
	mu    sync.Mutex
	heard []string // "4 web": the type and the application
}

func newWebhook(t *testing.T, signature string) *webhook {
	w := &webhook{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct {
			Type     int
			Metadata struct {
				Deployment struct {
					Name string `json:"application_name"`
				} `json:"deployment"`
			}
		}
		if json.NewDecoder(r.Body).Decode(&event) == nil && r.Header.Get("PipeCD-Signature") == signature {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.heard = append(w.heard, fmt.Sprint(event.Type, " ", event.Metadata.Deployment.Name))
		}
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *webhook) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.heard...)
}

func TestAnOwnPipedConfigurationBringsRepositoriesAndNotifications(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	const signature = "shared-value-of-the-webhook"
	hook := newWebhook(t, signature)
	first := newRepository(t, map[string]string{"web/app.pipecd.yaml": scriptApplication("web", "echo hello", "")})
	second := newRepository(t, map[string]string{
		"web/app.pipecd.yaml": scriptApplication("shop", "echo hello", ""),
		"lab/app.pipecd.yaml": scriptApplication("lab", "exit 1", ""),
	})
	dir := filepath.Dir(second)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "signature"), []byte(signature+"\n"), 0o600))
	file := pipedYAML(t, dir, `  projectID: prod
  pipedID: prod-piped
  pipedKeyData: c2VjcmV0LWtleS1vZi1wcm9k
  apiAddress: pipecd.example.com:443
  repositories: [{repoId: second, remote: ./repository, branch: main}]
  notifications:
    receivers: [{name: hook, webhook: {url: "`+hook.URL+`", signatureValueFile: signature}}]
    routes: [{receiver: hook, events: [DEPLOYMENT_SUCCEEDED, DEPLOYMENT_FAILED]}]
`)
	r := e.pipedeck("ci", first, "--cluster", "none", "--piped-config", file, "--keep")
	require.Equal(t, 1, r.Code, "lab fails: %s", r.Stderr)
	require.Contains(t, r.Stderr, "lab: FAILURE")
	require.ElementsMatch(t, []string{"4 web", "4 shop", "5 lab"}, hook.all())
	for _, place := range []string{":4:14: spec.projectID", ":5:12: spec.pipedID", ":6:17: spec.pipedKeyData",
		":7:15: spec.apiAddress"} {
		require.Contains(t, r.Stderr, file+place+": not taken over")
	}

	written, err := os.Stat(e.Dir("piped.yaml"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), written.Mode().Perm())
	logs, err := filepath.Glob(e.Dir("logs", "*.log"))
	require.NoError(t, err)
	for _, log := range logs {
		content, err := os.ReadFile(log)
		require.NoError(t, err)
		require.NotContains(t, string(content)+r.Stdout+r.Stderr, signature, log)
		require.NotContains(t, string(content)+r.Stdout+r.Stderr, "c2VjcmV0LWtleS1vZi1wcm9k", log)
	}
}

func TestOnlySelectedApplicationsAreAwaited(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repository := newRepository(t, map[string]string{
		"web/app.pipecd.yaml":  scriptApplication("web", "echo hello", ""),
		"shop/app.pipecd.yaml": scriptApplication("shop", "exit 1", ""),
	})
	file := pipedYAML(t, filepath.Dir(repository), "  appSelector: {team: web}\n")
	r := e.pipedeck("ci", repository, "--cluster", "none", "--piped-config", file)
	require.Zero(t, r.Code, r.Stderr)
	require.Regexp(t, `(?m)^shop +EXCLUDED .*appSelector`, r.Stdout)
}

func TestConflictsWithTheEnvironmentAreNamedAtTheirPlaces(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repository := newRepository(t, map[string]string{"web/app.pipecd.yaml": scriptApplication("web", "echo hello", "")})
	file := pipedYAML(t, filepath.Dir(repository), `  repositories:
    - {repoId: local, remote: ./repository, branch: main}
    - {repoId: gone, remote: ./nowhere, branch: main}
    - {repoId: other, remote: ./repository, branch: absent}
  plugins:
    - {name: wait, url: "https://example.com/wait"}
  secretManagement:
    type: AGE
    config: {identityFile: identity}
  notifications:
    routes: [{receiver: absent}]
`)
	r := e.pipedeck("ci", repository, "--cluster", "none", "--piped-config", file)
	require.Equal(t, 2, r.Code, r.Stderr)
	for place, says := range map[string]string{
		":5:16": `"local" is the repository of the environment`, ":6:30": "is not a Git repository",
		":7:53": "has no branch absent", ":9:25": "the plugin wait comes with pipedeck",
		":12:28": "identity does not exist", ":14:25": `"absent" is not among`,
	} {
		require.Regexp(t, file+place+": .*"+says, r.Stderr)
	}
	require.NoDirExists(t, e.StateDir, "nothing was started")
}

func TestAnEventBecomesACommitAndADeployment(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repository := newRepository(t, map[string]string{
		"web/values.yaml": "image: v1 # set by events\n",
		"web/app.pipecd.yaml": scriptApplication("web", "cat values.yaml", `  eventWatcher:
    - matcher: {name: image, labels: {env: dev}}
      handler:
        config:
          commitMessage: "Deploy {{ .Value }}"
          replacements: [{file: values.yaml, yamlField: $.image}]
`),
	})
	gittest.Run(t, repository, "config", "receive.denyCurrentBranch", "updateInstead")
	up := e.start("up", repository, "--cluster", "none")
	up.await("the first deployment", deployed("web", "SUCCESS"))

	r := e.pipedeck("event", "register", "image", "--data", "v2", "--label", "env=prod")
	require.Equal(t, 1, r.Code, r.Stderr)
	require.Contains(t, r.Stderr, "no event watcher matches the event image (env=prod)")
	require.Contains(t, r.Stderr, "register one of these, with exactly its labels: image (env=dev)")

	r = e.pipedeck("event", "register", "image", "--data", "v2", "--label", "env=dev", "-o", "json")
	require.Zero(t, r.Code, r.Stderr)
	var event map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.Stdout), &event))
	require.Equal(t, "SUCCESS", event["status"])
	commit := gittest.Run(t, repository, "rev-parse", "HEAD")
	require.Equal(t, "Deploy v2", gittest.Run(t, repository, "log", "-1", "--format=%s"))
	up.await("the deployment of the event", deployed("web", "SUCCESS", "commit", commit))

	r = e.pipedeck("event", "list")
	require.Regexp(t, `image\s+env=dev\s+v2\s+SUCCESS`, r.Stdout)
	require.Regexp(t, `image\s+env=prod\s+v2\s+NOT_HANDLED`, r.Stdout)
}

func TestASecretOfAGivenKeyIsDecryptedForAStage(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]func(dir string) (flags []string, spec string){
		"a key pair": func(dir string) ([]string, string) {
			for _, args := range [][]string{{"genrsa", "-out", "private", "2048"},
				{"rsa", "-in", "private", "-pubout", "-out", "public"}} {
				cmd := exec.Command("openssl", args...)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, string(out))
			}
			return []string{"--key", filepath.Join(dir, "public")}, "  secretManagement:\n    type: KEY_PAIR\n" +
				"    config: {privateKeyFile: private, publicKeyFile: public}\n"
		},
		"an age identity": func(dir string) ([]string, string) {
			identity, err := age.GenerateX25519Identity()
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "identity"), []byte(identity.String()+"\n"), 0o600))
			return []string{"--piped-config", filepath.Join(dir, "piped.yaml")},
				"  secretManagement:\n    type: AGE\n    config: {identityFile: identity}\n"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t)
			const secret = "correct horse battery staple"
			sum := fmt.Sprintf("%x", sha256.Sum256([]byte(secret)))
			repository := newRepository(t, map[string]string{"README": "empty\n"})
			flags, spec := keys(filepath.Dir(repository))
			file := pipedYAML(t, filepath.Dir(repository), spec)
			encrypt := e.command(append([]string{"encrypt", "password"}, flags...)...)
			encrypt.Stdin = strings.NewReader(secret + "\n")
			ciphertext, err := encrypt.Output()
			require.NoError(t, err, "no environment is needed")
			commitFiles(t, repository, map[string]string{
				"web/secret.txt": "{{ .encryptedSecrets.password }}",
				"web/app.pipecd.yaml": scriptApplication("web", `test "$(sha256sum < secret.txt)" = "`+sum+`  -"`,
					"  encryption:\n    encryptedSecrets: {password: "+strings.TrimSpace(string(ciphertext))+"}\n"+
						"    decryptionTargets: [secret.txt]\n"),
			})
			r := e.pipedeck("ci", repository, "--cluster", "none", "--piped-config", file)
			require.Zero(t, r.Code, r.Stderr)
			require.NotContains(t, r.Stdout+r.Stderr, secret)
		})
	}
}

func TestFlagsAreAppliedToARunningEnvironmentWhoseHistoryStays(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repository := newRepository(t, map[string]string{"web/app.pipecd.yaml": scriptApplication("web", "echo hello", "")})
	second := newRepository(t, map[string]string{"app.pipecd.yaml": scriptApplication("shop", "echo hello", "")})
	file := pipedYAML(t, filepath.Dir(second),
		"  repositories: [{repoId: second, remote: ./repository, branch: main}]\n")
	up := e.start("up", repository, "--cluster", "none")
	before := up.await("the first deployment", deployed("web", "SUCCESS"))["id"]

	r := e.pipedeck("up", "--cluster", "none", "--piped-config", file, "--output", "plain")
	require.Equal(t, 2, r.Code, r.Stderr)
	require.Regexp(t, `--piped-config +- +`+file, r.Stderr)
	require.Contains(t, r.Stderr, "next step: start its process again with these flags, which keeps its clusters, "+
		"history and keys: pipedeck up --name story --state-dir "+e.StateDir+" --apply")

	key, err := os.ReadFile(e.Dir("secrets", "encryption.private.pem"))
	require.NoError(t, err)
	again := e.start("up", "--cluster", "none", "--piped-config", file, "--apply")
	_, code := up.wait()
	require.Zero(t, code, "the process before has ended in order")
	again.await("the application of the second repository", deployed("shop", "SUCCESS"))
	var ids []any
	for _, d := range e.list("deployments") {
		ids = append(ids, d["id"])
	}
	require.Contains(t, ids, before)
	require.Len(t, ids, 2, "nothing was deployed again")
	after, err := os.ReadFile(e.Dir("secrets", "encryption.private.pem"))
	require.NoError(t, err)
	require.Equal(t, key, after)

	r = e.pipedeck("up", "--apply", "--cluster", "embedded", "--output", "plain")
	require.Equal(t, 2, r.Code)
	require.Regexp(t, `--cluster +local=none +embedded`, r.Stderr)
	require.Contains(t, r.Stderr, "end it first")
}

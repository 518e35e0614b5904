// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/go-git/go-git/v5"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/tui/document"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file below testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(got), 0o600))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestValidateShowsEveryProblemOfARepositoryAtOnce(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := command(t.Context(), t.TempDir(), "validate", "testdata/validate/repository")
	require.Equal(t, exit.WrongUsage, code)
	golden(t, "validate/repository.golden", stdout)
	require.Equal(t, "pipedeck: the configuration has 10 errors\nnext step: correct the lines above and run it again\n",
		stderr)
}

func TestValidateOfGoodFilesSaysHowManyItChecked(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"testdata/validate/good", "testdata/validate/good/"} {
		code, stdout, stderr := command(t.Context(), t.TempDir(), "validate", "--strict", path)
		require.Zero(t, code, stderr)
		require.Equal(t, "checked 2 files: 0 errors, 0 warnings\n", stdout)
	}
}

func TestAPartOfAPipedConfigurationNeedsOnlyWhatAnEnvironmentDoesNotProvide(t *testing.T) {
	t.Parallel()
	validate := func(spec string) (code int, stdout string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "piped.yaml")
		text := "apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n" + spec
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		code, stdout, _ = command(t.Context(), t.TempDir(), "validate", "--strict", file)
		return code, stdout
	}
	code, stdout := validate("  git: {username: me}\n  plugins:\n    - name: kubernetes\n      config: {}\n")
	require.Zero(t, code, stdout)
	_, stdout = validate("  git: {username: me}\n  plugins:\n    - name: shelf\n      config: {}\n")
	require.Contains(t, stdout, "spec.plugins[0].url: is required")
	require.Contains(t, stdout, "1 error")
	_, stdout = validate("  pipedID: p\n  git: {username: me}\n")
	require.Contains(t, stdout, "spec.projectID: is required", "it is meant for a piped")
}

func TestAChainThatDeploysNothingIsAWarningOfAWholeRepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "app.pipecd.yaml")
	require.NoError(t, os.WriteFile(file, []byte("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n"+
		"  name: web\n  plugins: {kubernetes: {}}\n"+
		"  postSync: {chain: {applications: [{name: bee}]}}\n"), 0o600))
	_, stdout, _ := command(t.Context(), t.TempDir(), "validate", dir)
	require.Contains(t, stdout, "0 errors, 0 warnings", "the repository may have the application elsewhere")
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".git"), 0o700))
	_, stdout, _ = command(t.Context(), t.TempDir(), "validate", dir)
	require.Contains(t, stdout, file+`:6:37: warning: spec.postSync.chain.applications[0]: no other application has `+
		`the name "bee", so this block of the chain deploys nothing`)
	_, stdout, _ = command(t.Context(), t.TempDir(), "validate", file)
	require.Contains(t, stdout, "0 errors, 0 warnings")
}

func TestAnApplicationInAFileThatPipedDoesNotFindIsAWarning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	content := "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n  plugins: {kubernetes: {}}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "app.pipecd.yml"), []byte(content), 0o600))
	code, stdout, stderr := command(t.Context(), t.TempDir(), "validate", dir)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "app.pipecd.yml:2:7: warning: kind: "+config.NotFound)
	require.Contains(t, stdout, "checked 1 file: 0 errors, 1 warning")
}

func TestTheSamplesPassTheStrictCheck(t *testing.T) {
	t.Parallel()
	repo := t.TempDir() // as up --sample makes one: their paths begin at its root
	require.NoError(t, os.CopyFS(repo, os.DirFS("../../../sample-apps")))
	_, err := git.PlainInit(repo, false)
	require.NoError(t, err)
	code, stdout, stderr := command(t.Context(), t.TempDir(), "validate", "--strict", repo)
	require.Zero(t, code, stdout+stderr)
	require.Equal(t, "checked 14 files: 0 errors, 0 warnings\n", stdout)
}

func TestWarningsFailOnlyWhenStrict(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "app.pipecd.yaml")
	require.NoError(t, os.WriteFile(file, []byte(clitest.GoodApplication+"  timeout: 5\n"), 0o600))
	code, stdout, _ := command(t.Context(), t.TempDir(), "validate", file)
	require.Zero(t, code)
	require.Equal(t, file+`:6:12: warning: spec.timeout: 5 without a unit means nanoseconds; did you mean "5s"?`+
		"\nchecked 1 file: 0 errors, 1 warning\n", stdout)
	code, stdout, _ = command(t.Context(), t.TempDir(), "validate", file, "--strict")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stdout, ":6:12: error: spec.timeout: ")
	require.Contains(t, stdout, "1 error, 0 warnings")
}

func TestApplicationsAreComparedWithThePipedConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	apps, piped := filepath.Join(dir, "apps"), filepath.Join(dir, "piped.yaml")
	require.NoError(t, os.Mkdir(apps, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(apps, "app.pipecd.yaml"), []byte(clitest.GoodApplication), 0o600))
	const spec = "apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n  projectID: a\n  pipedID: b\n" +
		"  pipedKeyFile: c\n  apiAddress: d:1\n" +
		"  plugins:\n    - {name: terraform, url: file:///p, port: 0}\n"
	require.NoError(t, os.WriteFile(piped, []byte(spec+"  notifications:\n    receivers:\n"+
		"      - {name: a, webhook: {url: \"https://example.com\"}, template: \"{{ .Nonsense }}\"}\n"), 0o600))

	code, stdout, _ := command(t.Context(), t.TempDir(), "validate", "--strict", apps)
	require.Zero(t, code, stdout)
	for _, args := range [][]string{{dir}, {apps, "--piped-config", piped}} {
		code, stdout, _ = command(t.Context(), t.TempDir(), append([]string{"validate"}, args...)...)
		require.Equal(t, exit.WrongUsage, code)
		require.Contains(t, stdout,
			`app.pipecd.yaml:5:13: error: spec.plugins.kubernetes: the plugin "kubernetes" is not in spec.plugins of `+
				piped)
		require.Contains(t, stdout, piped+":12:68: error: spec.notifications.receivers[0].template: ")
		require.Contains(t, stdout, "can't evaluate field Nonsense")
		require.Contains(t, stdout, "checked 2 files: 2 errors")
	}
}

func TestManifestsOutsideOfTheRepositoryAreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	app := filepath.Join(dir, "apps", "web")
	require.NoError(t, os.MkdirAll(app, 0o700))
	const text = `apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: web
  plugins:
    kubernetes:
      input:
        manifests: [deployment.yaml, ../../base/service.yaml, ../../../secret.yaml, /etc/passwd]
        helmOptions: {valueFiles: [../../values.yaml, "https://example.com/a/../../../b", ../../../values.yaml]}
    kubernetes_multicluster:
      input:
        multiTargets:
          - {target: {name: a}, manifests: [../../../a.yaml], kustomizeDir: tokyo}
          - {target: {name: b}, manifests: [../../../../b.yaml], kustomizeDir: tokyo}
  eventWatcher:
    - matcher: {name: image}
      handler: {config: {replacements: [{file: ../../a, regex: (a)}, {file: ../../../b, regex: (b)}]}}
  pipeline: {stages: [{name: WAIT, with: {duration: 1s}}]}
`
	require.NoError(t, os.WriteFile(filepath.Join(app, "app.pipecd.yaml"), []byte(text), 0o600))
	code, stdout, _ := command(t.Context(), t.TempDir(), "validate", "--strict", dir)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stdout, "1 error", "without a repository, nothing is known of ..")
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".git"), 0o700))
	code, stdout, _ = command(t.Context(), t.TempDir(), "validate", "--strict", dir)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stdout, `input.manifests[2]: "../../../secret.yaml" leads outside of the repository`)
	require.Contains(t, stdout, `input.manifests[3]: "/etc/passwd" is not relative to the application's directory`)
	require.Contains(t, stdout, `input.helmOptions.valueFiles[2]: "../../../values.yaml" leads outside`)
	require.Contains(t, stdout, `input.multiTargets[1].manifests[0]: "../../../../b.yaml" leads outside`)
	require.Contains(t, stdout, `replacements[1].file: "../../../b" leads outside of the repository`)
	require.Contains(t, stdout, "5 errors")
}

func TestAnApplicationIsNotTakenForThePipedConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "app.pipecd.yaml")
	require.NoError(t, os.WriteFile(file, []byte(clitest.GoodApplication), 0o600))
	for _, path := range []string{"testdata/validate/good", dir, file} {
		code, stdout, stderr := command(t.Context(), t.TempDir(), "validate", path, "--piped-config", file)
		require.Equal(t, exit.WrongUsage, code, stdout)
		require.Contains(t, stderr, "--piped-config "+file+" is a file of the kind Application: want the "+
			"configuration of a piped, of the kind Piped")
		require.Contains(t, stderr, "next step: name the file of piped")
	}
}

func TestAChartOfTwoPlacesIsNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "app.pipecd.yaml")
	for chart, want := range map[string]string{
		"{path: ../chart, repository: stable, name: web}": "input.helmChart.repository: cannot be used together " +
			"with path",
		"{repository: stable}": "input.helmChart: needs name together with repository",
		"{version: 1.0.0}":     "input.helmChart: needs path, or repository and name",
		"{repository: 'ftp://charts.example/a', name: web}": "input.helmChart.repository: is not the " +
			"address of a chart repository: want https://, http:// or oci://",
		"{repository: oci://charts.example/a, name: web}": "0 errors",
		"{path: ../chart}": "0 errors",
	} {
		text := "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n  plugins:\n" +
			"    kubernetes:\n      input:\n        helmChart: " + chart + "\n"
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, stdout, _ := command(t.Context(), t.TempDir(), "validate", "--strict", file)
		require.Contains(t, stdout, want, chart)
	}
}

func TestALinkBelowADirectoryIsReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "a"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "app.pipecd.yaml"), []byte(clitest.GoodApplication), 0o600))
	link := filepath.Join(dir, "app.pipecd.yaml")
	require.NoError(t, os.Symlink("a/app.pipecd.yaml", link))
	code, stdout, _ := command(t.Context(), t.TempDir(), "validate", dir)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stdout, link+": error: is a symbolic link: piped reads configuration from regular files only")
	code, stdout, _ = command(t.Context(), t.TempDir(), "validate", link)
	require.Zero(t, code, "a file that is named itself is read: %s", stdout)
}

func TestValidateForMachines(t *testing.T) {
	t.Parallel()
	code, stdout, _ := command(t.Context(), t.TempDir(), "validate", "-o", "json",
		"testdata/validate/repository/misspelt.json")
	require.Equal(t, exit.WrongUsage, code)
	var got document.Validation
	clitest.Document(t, "validation", stdout, &got)
	require.Equal(t, 1, got.Checked)
	require.Len(t, got.Problems, 1)
	require.Equal(t, "testdata/validate/repository/misspelt.json", got.Problems[0].File)
	require.Equal(t, 3, got.Problems[0].Line)
	require.Equal(t, 11, got.Problems[0].Column)
	require.Equal(t, "error", got.Problems[0].Severity)
	require.Equal(t, "kind", got.Problems[0].Field)

	code, stdout, _ = command(t.Context(), t.TempDir(), "validate", "-o", "json", "testdata/validate/good")
	require.Zero(t, code)
	require.JSONEq(t, `{"schema": 1, "checked": 2, "problems": []}`, stdout)
}

func TestValidateOfNothingIsAMistake(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	for path, says := range map[string]string{
		empty:                                 "holds no configuration of piped, an application or a plugin",
		filepath.Join(empty, "absent"):        "no such file",
		"testdata/validate/good/nothing.yaml": "no such file",
	} {
		code, stdout, stderr := command(t.Context(), t.TempDir(), "validate", path)
		require.Equal(t, exit.WrongUsage, code)
		require.Contains(t, stderr, says)
		require.Contains(t, stderr, "next step: ")
		require.Empty(t, stdout)
	}
}

func TestAFileThatIsTooLargeIsReportedAndOthersOfThatSizeAreLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	large := clitest.GoodApplication + strings.Repeat("# x\n", config.MaxSize/4)
	for _, name := range []string{"app.pipecd.yaml", "manifest.yaml"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(large), 0o600))
	}
	code, stdout, _ := command(t.Context(), t.TempDir(), "validate", dir)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stdout, "app.pipecd.yaml: error: the file is larger than 512 KiB")
	require.Contains(t, stdout, "checked 1 file:")
}

func TestANamedPipeIsRefusedAndThatOfTheShellIsRead(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "app.pipecd.yaml")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	good := filepath.Join(t.TempDir(), "app.pipecd.yaml")
	require.NoError(t, os.WriteFile(good, []byte(clitest.GoodApplication), 0o600))
	for _, args := range [][]string{{"validate", fifo}, {"validate", good, "--piped-config", fifo}, {"migrate", fifo}} {
		code, _, stderr := command(t.Context(), t.TempDir(), args...)
		require.Equal(t, exit.WrongUsage, code, args)
		require.Contains(t, stderr, "open "+fifo+": it is a named pipe, not a regular file\nnext step: ", args)
	}

	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	substituted := fmt.Sprintf("/dev/fd/%d", read.Fd()) // <(COMMAND)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the command writes nothing
	code, _, _ := command(ctx, t.TempDir(), "validate", substituted)
	require.Equal(t, exit.Interrupted, code)
	_, err = write.WriteString(clitest.GoodApplication)
	require.NoError(t, err)
	require.NoError(t, write.Close())
	code, stdout, stderr := command(t.Context(), t.TempDir(), "validate", substituted)
	require.Zero(t, code, stdout+stderr)
}

func TestAnApplicationInADirectoryOfAnyNameIsChecked(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("file systems of macOS take names in UTF-8 only")
	}
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"good", "new\nline", "l\xfctin"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		file := filepath.Join(dir, name, "app.pipecd.yaml")
		require.NoError(t, os.WriteFile(file, []byte(clitest.GoodApplication), 0o600))
	}
	code, stdout, _ := command(t.Context(), t.TempDir(), "validate", dir)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stdout, "checked 3 files: 2 errors")
	require.Contains(t, stdout, "rename the directory")
}

func TestInputsThatNoCommitDeploysAreWarnedOf(t *testing.T) {
	t.Parallel()
	repo := clitest.Repository(t, clitest.GoodApplication)
	for name, content := range map[string]string{
		"web/app.pipecd.yaml":    clitest.GoodApplication,
		"web/kustomization.yaml": "resources: [../base]\n", "base/kustomization.yaml": "resources: [web.yaml]\n",
		"base/web.yaml": "kind: Service\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(repo, filepath.Dir(name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(repo, name), []byte(content), 0o600))
	}
	file := filepath.Join(repo, "web", "app.pipecd.yaml")
	for _, argument := range []string{file, filepath.Dir(file)} {
		code, stdout, stderr := command(t.Context(), t.TempDir(), "validate", argument)
		require.Zero(t, code, stderr)
		require.Contains(t, stdout, file+":4:3: warning: spec.trigger.onCommit.paths: the application uses base "+
			"outside of its directory")
	}
}

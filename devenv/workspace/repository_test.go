// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config/options"
	"github.com/pipedeck/pipedeck/system/gittest"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

// committed makes a repository with one application.
func committed(t *testing.T, dir string) {
	t.Helper()
	write(t, filepath.Join(dir, "web", "app.pipecd.yaml"), webApplication)
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-qm", "first")
}

const webApplication = "apiVersion: pipecd.dev/v1beta1\nkind: Application\n" +
	"spec: {name: web, plugins: {kubernetes: {}}}\n"

func TestNamesOfFilesMayHoldAnyBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"new\nline", "tab\there", `quote"'`, "back\\slash", "-dash"} {
		write(t, filepath.Join(dir, "web", name), "x")
	}
	write(t, filepath.Join(dir, "new\nline", "app.pipecd.yaml"), strings.Replace(webApplication, "web", "other", 1))
	want, skipped := []string{"web/app.pipecd.yaml"}, []string{"new\nline/app.pipecd.yaml"}
	if runtime.GOOS != "darwin" { // whose file systems take text alone
		write(t, filepath.Join(dir, "l\xfctin", "app.pipecd.yaml"), webApplication)
		write(t, filepath.Join(dir, "web", "l\xfctin"), "x")
		skipped = append([]string{"l\xfctin/app.pipecd.yaml"}, skipped...)
	}
	committed(t, dir)
	repository, err := OpenRepository(dir)
	require.NoError(t, err)
	require.ElementsMatch(t, want, repository.Applications)
	require.Equal(t, skipped, repository.Skipped)
	if len(skipped) > 1 {
		require.Equal(t, `skipped "l\xfctin/app.pipecd.yaml", "new\nline/app.pipecd.yaml": `+
			"the path is not one line of UTF-8 text, which the protocol requires", repository.SkippedText())
	}
	_, err = repository.CheckApplications(checkerOf("kubernetes"))
	require.NoError(t, err)
}

func TestAConfigurationThatIsALinkIsNamedAsOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "linked"), 0o755))
	require.NoError(t, os.Symlink("../web/app.pipecd.yaml", filepath.Join(dir, "linked", "app.pipecd.yaml")))
	committed(t, dir)
	repository, err := OpenRepository(dir)
	require.NoError(t, err)
	_, err = repository.CheckApplications(&options.Checker{})
	require.EqualError(t, err,
		"linked/app.pipecd.yaml is a symbolic link: piped reads configuration from regular files only; commit a "+
			"copy of the file")
}

func TestARepositoryThatCannotBeWatchedSaysWhyAndWhatToDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare       func(t *testing.T, dir string)
		problem, hint string
	}{
		"not a Git repository": {func(*testing.T, string) {}, "is not a Git repository", "init"},
		"no commits yet": {func(t *testing.T, dir string) { gittest.Run(t, dir, "init", "-q", "-b", "trunk") },
			"has no commits on branch trunk yet", "commit"},
		"bare": {func(t *testing.T, dir string) { gittest.Run(t, dir, "init", "-q", "--bare") },
			"is a bare repository", "clone"},
		"SHA-256": {func(t *testing.T, dir string) {
			gittest.Run(t, dir, "init", "-q", "-b", "main", "--object-format=sha256")
			write(t, filepath.Join(dir, "a"), "a")
			gittest.Run(t, dir, "add", "-A")
			gittest.Run(t, dir, "commit", "-qm", "first")
		}, "names its objects by SHA256", "--object-format=sha1"},
		"a broken configuration": {func(t *testing.T, dir string) {
			committed(t, dir)
			write(t, filepath.Join(dir, ".git", "config"), "[core\n")
		}, "has a broken configuration, ", "config --list"},
		"a configuration below": {func(t *testing.T, dir string) {
			committed(t, dir)
			write(t, filepath.Join(dir, ".git", "config"),
				"[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n")
		}, "stores its references as reftable", "refs migrate"},
		"no objects": {func(t *testing.T, dir string) {
			committed(t, dir)
			require.NoError(t, os.RemoveAll(filepath.Join(dir, ".git", "objects")))
			require.NoError(t, os.MkdirAll(filepath.Join(dir, ".git", "objects"), 0o755))
		}, "is damaged or incomplete: read commit", "fsck"},
		"a tree that is gone": {func(t *testing.T, dir string) {
			committed(t, dir)
			tree := gittest.Run(t, dir, "rev-parse", "HEAD:web")
			require.NoError(t, os.Remove(filepath.Join(dir, ".git", "objects", tree[:2], tree[2:])))
		}, `is damaged or incomplete: read tree`, "fsck"},
		"a partial clone without its files": {func(t *testing.T, dir string) {
			from := filepath.Join(t.TempDir(), "from")
			require.NoError(t, os.Mkdir(from, 0o755))
			committed(t, from)
			gittest.Run(t, from, "config", "uploadpack.allowFilter", "true")
			gittest.Run(t, dir, "clone", "-q", "--filter=tree:0", "--no-checkout", "file://"+from, ".")
		}, "is a partial clone without what is needed: read", "fetch --refetch --no-filter origin"},
		"a broken HEAD": {func(t *testing.T, dir string) {
			committed(t, dir)
			write(t, filepath.Join(dir, ".git", "HEAD"), "garbage\n")
		}, "is damaged or incomplete", "fsck"},
		"no directory": {func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(dir))
		}, "is not a directory", "give the path of a Git repository"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "repo")
			require.NoError(t, os.Mkdir(dir, 0o755))
			c.prepare(t, dir)
			_, err := OpenRepository(dir)
			var problem *RepositoryError
			require.ErrorAs(t, err, &problem)
			require.ErrorContains(t, err, c.problem)
			require.Contains(t, problem.Hint, c.hint)
		})
	}
}

// TestTheHintOfADamagedRepositoryRepairsIt runs the command that each hint ends with.
func TestTheHintOfADamagedRepositoryRepairsIt(t *testing.T) {
	t.Parallel()
	for problem, damage := range map[string]func(t *testing.T, dir string){
		"HEAD is missing": func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, ".git", "HEAD")))
		},
		"is a partial clone": func(t *testing.T, dir string) {
			from := t.TempDir()
			gittest.Run(t, from, "clone", "-q", "--bare", dir, ".")
			gittest.Run(t, from, "config", "uploadpack.allowFilter", "true")
			require.NoError(t, os.RemoveAll(filepath.Join(dir, ".git")))
			gittest.Run(t, dir, "clone", "-q", "--filter=tree:0", "--no-checkout", "file://"+from, "new")
			require.NoError(t, os.Rename(filepath.Join(dir, "new", ".git"), filepath.Join(dir, ".git")))
			gittest.Run(t, dir, "config", "maintenance.auto", "false") // it would outlive the test
			gittest.Run(t, dir, "config", "gc.auto", "0")
		},
		"has no branch main, which is checked out": func(t *testing.T, dir string) {
			gittest.Run(t, dir, "branch", "other")
			gittest.Run(t, dir, "update-ref", "-d", "refs/heads/main")
		},
	} {
		t.Run(problem, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			committed(t, dir)
			damage(t, dir)
			_, err := OpenRepository(filepath.Join(dir, "web"))
			var known *RepositoryError
			require.ErrorAs(t, err, &known)
			require.Contains(t, known.Problem, problem)
			_, command, _ := strings.Cut(known.Hint, ": ")
			out, err := exec.Command("sh", "-c", command).CombinedOutput()
			require.NoError(t, err, "%s: %s", command, out)
			repository, err := OpenRepository(dir)
			require.NoError(t, err)
			require.Equal(t, "main", repository.Branch)
		})
	}
}

func TestADetachedHEADIsACommitLikeAnyOther(t *testing.T) {
	t.Parallel()
	origin := t.TempDir()
	write(t, filepath.Join(origin, "web", "app.pipecd.yaml"), "kind: Application")
	gittest.Run(t, origin, "init", "-q", "-b", "main")
	gittest.Run(t, origin, "add", "-A")
	gittest.Run(t, origin, "commit", "-qm", "first")
	gittest.Run(t, origin, "commit", "-q", "--allow-empty", "-m", "second")
	first, err := exec.Command("git", "-C", origin, "rev-parse", "HEAD~").Output()
	require.NoError(t, err)
	for name, depth := range map[string]string{"whole": "--no-single-branch", "shallow": "--depth=1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "clone")
			gittest.Run(t, origin, "clone", "-q", depth, "file://"+origin, dir)
			commit := "HEAD"
			if name == "whole" {
				commit = strings.TrimSpace(string(first))
			}
			gittest.Run(t, dir, "checkout", "-q", "--detach", commit)
			found, err := OpenRepository(filepath.Join(dir, "web"))
			require.NoError(t, err)
			require.True(t, found.Detached)
			require.Equal(t, DetachedBranch, found.Branch)
			require.Equal(t, []string{"web/app.pipecd.yaml"}, found.Applications)
			if name == "whole" {
				require.Equal(t, commit, found.Head)
			}
		})
	}
}

func TestARepositoryIsFoundFromAFolderInsideItAndFromALinkedWorkTree(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	dir := filepath.Join(root, "repo")
	write(t, filepath.Join(dir, "web", "app.pipecd.yaml"), "kind: Application")
	write(t, filepath.Join(dir, "web", "canary.pipecd.yaml"), "kind: Application")
	write(t, filepath.Join(dir, "web", "deployment.yaml"), "kind: Deployment")
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-qm", "first")
	gittest.Run(t, dir, "worktree", "add", "-q", "-b", "side", filepath.Join(root, "side"))

	inside, err := OpenRepository(filepath.Join(dir, "web"))
	require.NoError(t, err)
	require.Equal(t, dir, inside.Root)
	require.Equal(t, "main", inside.Branch)
	require.ElementsMatch(t, []string{"web/app.pipecd.yaml", "web/canary.pipecd.yaml"}, inside.Applications)

	linked, err := OpenRepository(filepath.Join(root, "side"))
	require.NoError(t, err)
	require.Equal(t, "side", linked.Branch)
	require.Equal(t, inside.Head, linked.Head)
}

type fakeSample map[string]string

func (s fakeSample) Walk(fn func(string, []byte) error) error {
	for name, content := range s {
		if err := fn(name, []byte(content)); err != nil {
			return err
		}
	}
	return nil
}

func TestTheSampleRepositoryIsMadeOnceAndThenBelongsToTheUser(t *testing.T) {
	t.Parallel()
	w := create(t)
	sample := fakeSample{"hello/app.pipecd.yaml": "kind: Application", "hello/file": "one"}
	made, err := w.EnsureSample(sample)
	require.NoError(t, err)
	require.Equal(t, "main", made.Branch)
	require.Equal(t, []string{"hello/app.pipecd.yaml"}, made.Applications)

	write(t, filepath.Join(made.Root, "hello", "file"), "mine")
	gittest.Run(t, made.Root, "commit", "-qam", "change")
	again, err := w.EnsureSample(sample)
	require.NoError(t, err)
	require.NotEqual(t, made.Head, again.Head)
	content, err := os.ReadFile(filepath.Join(made.Root, "hello", "file"))
	require.NoError(t, err)
	require.Equal(t, "mine", string(content))
}

func TestTheSampleRepositoryTakesPushesToItsBranch(t *testing.T) {
	t.Parallel()
	w := create(t)
	made, err := w.EnsureSample(fakeSample{"a/app.pipecd.yaml": "x", "a/image": "v1"})
	require.NoError(t, err)
	clone := filepath.Join(t.TempDir(), "clone")
	gittest.Run(t, w.Dir, "clone", "-q", made.Root, clone)
	write(t, filepath.Join(clone, "a", "image"), "v2")
	gittest.Run(t, clone, "commit", "-qam", "Update the image")
	gittest.Run(t, clone, "push", "-q", "origin", "main")
	content, err := os.ReadFile(filepath.Join(made.Root, "a", "image"))
	require.NoError(t, err)
	require.Equal(t, "v2", string(content), "the working tree follows")
}

func TestTheSampleRepositoryIsCreatedAgainAfterAnInterruptedAttempt(t *testing.T) {
	t.Parallel()
	w := create(t)
	write(t, w.SampleRepository()+".new/.git/HEAD", "half")
	made, err := w.EnsureSample(fakeSample{"a/app.pipecd.yaml": "x"})
	require.NoError(t, err)
	require.Len(t, made.Applications, 1)
}

func TestAllMistakesInTheApplicationsAreReportedAtOnceWithTheirPlaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", "app.pipecd.yaml"),
		"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: a\n  timeout: soon\n")
	write(t, filepath.Join(dir, "b", "app.pipecd.yaml"),
		"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec: {}\n")
	write(t, filepath.Join(dir, "c", "app.pipecd.yaml"),
		"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: c\n  plugins: {kubernetes: {}}\n")
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-qm", "first")
	repository, err := OpenRepository(dir)
	require.NoError(t, err)
	_, err = repository.CheckApplications(checkerOf("kubernetes"))
	require.ErrorContains(t, err, "a/app.pipecd.yaml:5:")
	require.ErrorContains(t, err, "b/app.pipecd.yaml:3:7: spec.name: is missing")
	require.NotContains(t, err.Error(), "c/app.pipecd.yaml")
	_, err = repository.CheckApplications(checkerOf("terraform"))
	require.ErrorContains(t, err, "c/app.pipecd.yaml:5:13: spec.plugins.kubernetes: "+
		`the plugin "kubernetes" is not in the plugins of this environment`)
}

func TestPathsThatLeaveTheRepositoryAreMistakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "apps", "a", "app.pipecd.yaml"),
		"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: a\n"+
			"  plugins: {kubernetes: {input: {manifests: [../b.yaml, ../../c.yaml, ../../../d.yaml]}}}\n"+
			"  eventWatcher: [{matcher: {name: a}, handler: {config: {replacements: [{file: ../../../e, "+
			"regex: (a)}]}}}]\n")
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-qm", "first")
	repository, err := OpenRepository(dir)
	require.NoError(t, err)
	_, err = repository.CheckApplications(checkerOf("kubernetes"))
	require.ErrorContains(t, err, `apps/a/app.pipecd.yaml:5:71: spec.plugins.kubernetes.input.manifests[2]: `+
		`"../../../d.yaml" leads outside of the repository`)
	require.ErrorContains(t, err, `replacements[0].file: "../../../e" leads outside of the repository`)
	require.NotContains(t, err.Error(), "c.yaml")
}

func TestTwoApplicationsOfOneNameAreWarnedOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{"a", "b"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, path), 0o755))
		write(t, filepath.Join(dir, path, "app.pipecd.yaml"),
			"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: one\n  plugins: {kubernetes: {}}\n")
	}
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-qm", "first")
	repository, err := OpenRepository(dir)
	require.NoError(t, err)
	warnings, err := repository.CheckApplications(checkerOf("kubernetes"))
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], `b/app.pipecd.yaml:4:9: spec.name: "one" is the name of a/app.pipecd.yaml as well`)
}

// checkerOf knows one plugin by its name.
func checkerOf(plugin string) *options.Checker {
	return &options.Checker{Plugins: []options.Plugin{{Name: plugin}}, Where: "the plugins of this environment"}
}

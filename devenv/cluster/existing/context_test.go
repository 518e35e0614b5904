// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package existing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

const sample = "testdata/kubeconfig"

func TestOnlyAClusterForDevelopmentIsUsedUnasked(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"kind-dev":       "",
		"minikube":       "",
		"docker-desktop": "",
		"prod":           "its name is not like those of kind, k3d,",
		"kind-far":       "its API server abcdef.eks.example.com is neither on this machine nor in a private network",
		"kind-address":   "its API server 203.0.113.7 is neither",
		"tunnel":         "its name is not like",
		"kindly":         "its name is not like",
		"kind-proxied":   "it is reached through a proxy",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := Find(sample, name)
			require.NoError(t, err)
			err = found.Check()
			if says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, says)
			require.ErrorContains(t, err, name)
			var hint *cluster.HintError
			require.ErrorAs(t, err, &hint)
			require.Contains(t, hint.Hint, "--yes")
		})
	}
}

func TestAServerIsNearByItsAddress(t *testing.T) {
	t.Parallel()
	for server, near := range map[string]bool{
		"https://127.0.0.1:6443": true, "https://[::1]:6443": true, "localhost:8080": true,
		"https://0.0.0.0:45231": true,
		"https://10.1.2.3":      true, "https://[fd00::1]:6443": true, "https://k8s.orb.local:26443": true,
		"https://LOCALHOST.:1":          true,
		"https://[::ffff:8.8.8.8]:6443": false, "https://8.8.8.8": false, "https://localhost.example.com": false,
		"https://notlocalhost": false, "https://": false, "https://%zz": false,
	} {
		require.Equal(t, near, remote(server) == "", server)
	}
}

func TestWhatTheKubeconfigLacksIsSaidWithTheNextStep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	for name, c := range map[string]struct{ file, context, says, hint string }{
		"no such file":    {filepath.Join(dir, "none"), "", "no such file", "--kubeconfig"},
		"not YAML":        {file("broken", "{"), "", "read the kubeconfig", "--kubeconfig"},
		"a directory":     {dir, "", "read the kubeconfig", "--kubeconfig"},
		"empty":           {file("empty", ""), "", "there is no context", "--cluster auto"},
		"no such context": {sample, "staging", "no context \"staging\"", "docker-desktop, kind-address"},
		"no current one": {file("undecided", "contexts: [{name: a, context: {cluster: x}}]"), "",
			"no current context", "--context: a"},
		"no API server":     {sample, "kind-nowhere", "names no API server", "kubectl config view"},
		"a user is missing": {sample, "kind-dangling", "absent", "kubectl config view"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Find(c.file, c.context)
			require.ErrorContains(t, err, c.says)
			var hint *cluster.HintError
			require.ErrorAs(t, err, &hint)
			require.Contains(t, hint.Hint, c.hint)
		})
	}
}

func TestAFewContextsAreNamed(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("contexts:\n")
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		b.WriteString("- {name: cluster-" + string(c) + ", context: {cluster: x}}\n")
	}
	b.WriteString("- {name: kind-z, context: {cluster: x}}\n")
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	_, err := Find(file, "")
	var hint *cluster.HintError
	require.ErrorAs(t, err, &hint)
	require.Equal(t,
		"choose one with --context: kind-z, cluster-a, cluster-b, cluster-c, cluster-d, cluster-e, cluster-f, "+
			"cluster-g and 19 more", hint.Hint)
}

func TestTheCopyHoldsOneContextAndNeedsNoOtherFile(t *testing.T) {
	t.Parallel()
	before, err := os.ReadFile(sample)
	require.NoError(t, err)
	here, err := filepath.Abs("testdata")
	require.NoError(t, err)

	found, err := Find(sample, "")
	require.NoError(t, err)
	require.Equal(t, "kind-dev", found.Name, "the current one")
	target := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, found.write(target))
	info, err := os.Stat(target)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	copied, err := clientcmd.LoadFromFile(target)
	require.NoError(t, err)
	require.Equal(t, "kind-dev", copied.CurrentContext)
	require.Len(t, copied.Contexts, 1)
	require.Equal(t, "apps", copied.Contexts["kind-dev"].Namespace)
	require.Len(t, copied.Clusters, 1)
	require.Equal(t, "certificate authority\n", string(copied.Clusters["near"].CertificateAuthorityData))
	require.Len(t, copied.AuthInfos, 1)
	ada := copied.AuthInfos["ada"]
	require.Equal(t, "client certificate\n", string(ada.ClientCertificateData))
	require.Equal(t, "key in place", string(ada.ClientKeyData), "what is given in place counts")
	require.Empty(t, ada.ClientKey)
	require.Equal(t, filepath.Join(here, "token"), ada.TokenFile, "it changes while it is used")

	found, err = Find(sample, "minikube")
	require.NoError(t, err)
	require.NoError(t, found.write(target))
	copied, err = clientcmd.LoadFromFile(target)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(here, "bin", "login"), copied.AuthInfos["plugin"].Exec.Command)
	require.Equal(t, []string{"--cluster", "dev"}, copied.AuthInfos["plugin"].Exec.Args)

	require.NoError(t, remove(target))
	require.NoError(t, remove(target), "it may be gone")
	after, err := os.ReadFile(sample)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

func TestMissingCredentialsAreSaid(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(file,
		[]byte("current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n"+
			"clusters: [{name: c, cluster: {server: 'https://127.0.0.1'}}]\n"+
			"users: [{name: u, user: {client-key: gone.key}}]\n"), 0o600))
	found, err := Find(file, "")
	require.NoError(t, err)
	err = found.write(filepath.Join(t.TempDir(), "copy"))
	require.ErrorContains(t, err, "gone.key")
	var hint *cluster.HintError
	require.ErrorAs(t, err, &hint)
}

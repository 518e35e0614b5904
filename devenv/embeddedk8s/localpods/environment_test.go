// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/programs"
)

// someServices are the Services of a namespace.
type someServices struct{ retired chan string }

func (s someServices) Environment(string) map[string]string {
	return map[string]string{"API_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_HOST": "127.0.0.1"}
}

func (s someServices) Retire(_ context.Context, podIP string) {
	if s.retired != nil {
		s.retired <- podIP
	}
}

func fieldOf(name, path string) corev1.EnvVar {
	field := &corev1.ObjectFieldSelector{FieldPath: path}
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: field}}
}

// environmentOf is what the container of a pod prints of its environment.
func environmentOf(t *testing.T, c *cluster, pod *corev1.Pod) map[string]string {
	t.Helper()
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	pod.Spec.Containers[0].Args = []string{"env"}
	c.Run(pod, "10.244.0.7")
	c.await(t, pod, "the pod has ended", hasEnded)
	found := map[string]string{}
	for line := range strings.Lines(c.output(t, pod, "main", false)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		found[name] = value
	}
	return found
}

func TestAContainerGetsTheEnvironmentOfItsManifestAndNothingOfTheUsers(t *testing.T) {
	t.Setenv("USERS_SECRET", "hunter2")
	t.Setenv(treeVariable, "tree")
	c := newCluster(t, func(config *Config, program *programs.Program) {
		config.Services = someServices{}
		program.Env = map[string]string{"FROM_IMAGE": "image", "OVERRIDDEN": "image"}
	})
	c.objects.set("settings", map[string]string{"COLOR": "blue", "size": "7", "bad=name": "x"})
	c.objects.set("keys", map[string]string{"token": "s3cret"})
	pod := newPodOf("env")
	pod.Labels["tier"] = "web"
	main := &pod.Spec.Containers[0]
	main.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: quantity.MustParse("64Mi")}
	main.EnvFrom = []corev1.EnvFromSource{{Prefix: "CFG_", ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "settings"},
	}}}
	missing := true
	main.Env = []corev1.EnvVar{
		{Name: "OVERRIDDEN", Value: "manifest"}, {Name: "PORT", Value: "8080"}, {Name: "POD_ROOT"},
		{Name: "REFERS", Value: "$(OVERRIDDEN) at $(API_SERVICE_HOST)"},
		{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "keys"}, Key: "token",
		}}},
		{Name: "LEFT_OUT", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "none"}, Key: "k", Optional: &missing,
		}}},
		fieldOf("MY_NAME", "metadata.name"), fieldOf("MY_IP", "status.podIP"),
		fieldOf("MY_TIER", "metadata.labels['tier']"),
		{Name: "MY_MEMORY", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{
			Resource: "limits.memory",
		}}},
	}
	env := environmentOf(t, c, pod)
	for name, want := range map[string]string{
		"FROM_IMAGE": "image", "OVERRIDDEN": "manifest", "REFERS": "manifest at 127.0.0.1", "TOKEN": "s3cret",
		"CFG_COLOR": "blue", "CFG_size": "7", "MY_NAME": "env", "MY_IP": "10.244.0.7", "MY_TIER": "web",
		"MY_MEMORY": "67108864", "HOSTNAME": "env", "API_SERVICE_HOST": "127.0.0.1", "HOST": "127.0.0.1",
		treeVariable: "tree",
	} {
		require.Equal(t, want, env[name], name)
	}
	require.NotContains(t, env, "LEFT_OUT")
	require.NotContains(t, env, "USERS_SECRET")
	require.Regexp(t, `^3[0-2]\d\d\d$`, env["PORT"], "the assigned port, not the manifest's")
	require.Contains(t, env["POD_ROOT"], string(pod.UID))
}

func TestVariablesOfTheManifestReferToThePortAndTheFolderThatAProcessHas(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := newPodOf("refers")
	pod.Spec.Containers[0].Env = []corev1.EnvVar{
		{Name: "BEFORE", Value: "$(POD_ROOT)/etc/app"},
		{Name: "PORT", Value: "8080"}, {Name: "POD_ROOT"},
		{Name: "ADDRESS", Value: "$(HOST):$(PORT)"}, {Name: "CONFIG", Value: "$(POD_ROOT)/etc/app"},
		{Name: "ESCAPED", Value: "$$(PORT)"},
	}
	env := environmentOf(t, c, pod)
	require.Regexp(t, `^3[0-2]\d\d\d$`, env["PORT"])
	require.Equal(t, "127.0.0.1:"+env["PORT"], env["ADDRESS"])
	require.Equal(t, env["POD_ROOT"]+"/etc/app", env["CONFIG"])
	require.Equal(t, env["POD_ROOT"]+"/etc/app", env["BEFORE"])
	require.Equal(t, "$(PORT)", env["ESCAPED"])
}

func TestAPodMayDoWithoutVariablesOfServices(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(config *Config, _ *programs.Program) { config.Services = someServices{} })
	pod, no := newPodOf("env"), false
	pod.Spec.EnableServiceLinks = &no
	env := environmentOf(t, c, pod)
	require.NotContains(t, env, "API_SERVICE_HOST")
	require.Contains(t, env, "KUBERNETES_SERVICE_HOST")
}

func TestAContainerWaitsForAConfigMapThatIsMissing(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := newPodOf("early", "wait")
	pod.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "late"},
	}}}
	c.Run(pod, "10.244.0.1")
	status := c.await(t, pod, "it waits", func(s Status) bool {
		waiting := s.Containers[0].State.Waiting
		return waiting != nil && waiting.Reason == "CreateContainerConfigError"
	})
	require.Contains(t, status.Containers[0].State.Waiting.Message, `"late" not found`)
	c.objects.set("late", nil)
	c.await(t, pod, "it runs", isReady)
}

func TestOnlyAllowedProgramsRun(t *testing.T) {
	t.Parallel()
	program := programs.Program{Path: "/store/abc", Entrypoint: "/bin/app", Image: "app", MayRun: []string{"/bin/sh"}}
	for name, want := range map[string]string{
		"/bin/app": "/store/abc", "app": "/store/abc", "/store/abc": "/store/abc", "/bin/sh": "/bin/sh",
		"sh":         "/bin/sh",
		"/other/app": "", "./app": "", "../bin/sh": "", "cat": "", "/bin/cat": "", "none-such": "",
	} {
		path, err := allowed(program, name, "/bin")
		require.Equal(t, want == "", err != nil, "%s: %v", name, err)
		if err == nil {
			require.Equal(t, want, path, name)
		}
	}
}

func TestACommandThatIsNotTheImagesOwnIsRefused(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := newPodOf("shell", "-c", "touch $HOME/pwned")
	pod.Spec.Containers[0].Command = []string{"sh"}
	c.Run(pod, "10.244.0.1")
	status := c.await(t, pod, "it is refused", func(s Status) bool {
		return s.Containers[0].State.Waiting != nil && s.Containers[0].State.Waiting.Reason == "CreateContainerError"
	})
	require.Contains(t, status.Containers[0].State.Waiting.Message, "neither the image's own program")
	require.Contains(t, status.Containers[0].State.Waiting.Message, "next step:")
	require.Zero(t, status.Containers[0].RestartCount)
	require.True(t, c.said("neither the image's own program"))
}

func TestAChangedProgramIsRefused(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(_ *Config, program *programs.Program) { program.SHA256 = "changed" })
	pod := newPodOf("changed", "wait")
	c.Run(pod, "10.244.0.1")
	c.await(t, pod, "it is refused", func(s Status) bool {
		return s.Containers[0].State.Waiting != nil &&
			strings.Contains(s.Containers[0].State.Waiting.Message, "has changed since it was listed")
	})
}

func TestCommandAndArgumentsAreExpanded(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	pod := newPodOf("args", "print=$(WHO) $$(WHO) $(NOBODY)")
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	pod.Spec.Containers[0].Command = []string{"/app", "print=own"}
	pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "WHO", Value: "world"}}
	c.Run(pod, "10.244.0.1")
	c.await(t, pod, "the pod has ended", hasEnded)
	require.Equal(t, "own\nworld $(WHO) $(NOBODY)\n", c.output(t, pod, "main", false))
}

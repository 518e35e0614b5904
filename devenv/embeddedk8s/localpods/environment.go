// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/containers"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/programs"
)

// treeVariable carries the process tree of the environment on to the containers, by which it finds and ends them when
// this process was killed (package system/processtree of pipedeck).
const treeVariable = "PIPEDECK_PROCESS_TREE"

// rootVariable is the folder in which a container's volumes lie at their paths.
const rootVariable = "POD_ROOT"

// defaultPath is the search path of containers when this process has none.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Objects gives the objects that pods refer to. Errors are those of the API.
type Objects interface {
	ConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error)
	Secret(ctx context.Context, namespace, name string) (*corev1.Secret, error)
	// ClaimDirectory returns the directory of a PersistentVolumeClaim; claims.ErrPending when it has none yet.
	ClaimDirectory(ctx context.Context, namespace, name string) (string, error)
	// Token returns a token of a service account for an audience, empty for the API's own one, bound to the pod.
	Token(ctx context.Context, pod *corev1.Pod, audience string, seconds int64) (string, error)
}

// variables are an environment.
type variables map[string]string

func (v variables) list() []string {
	entries := make([]string, 0, len(v))
	for _, name := range slices.Sorted(maps.Keys(v)) {
		entries = append(entries, name+"="+v[name])
	}
	return entries
}

// environment is what the container's process gets: nothing of this process's own environment except the search path.
func (c *container) environment(ctx context.Context, program programs.Program) (variables, error) {
	services := c.serviceVariables()
	env := variables{
		"PATH": searchPath(), "HOME": c.root(), "TMPDIR": filepath.Join(c.pod.dir, "tmp"), "HOSTNAME": c.pod.hostname(),
	}
	maps.Copy(env, program.Env)
	maps.Copy(env, services)
	if err := c.addSources(ctx, env); err != nil {
		return nil, err
	}
	own := c.ownVariables()
	set := variables{} // references see variables that come before, those of services, and ours first of all
	for _, entry := range c.spec.Env {
		value, ok, err := c.value(ctx, entry, own, set, services)
		if err != nil {
			return nil, err
		}
		if ok {
			set[entry.Name] = value
		}
	}
	maps.Copy(env, set)
	for name, value := range own {
		replace(c, env, name, value)
	}
	env[containers.MarkVariable] = markOf(c)
	if tree := os.Getenv(treeVariable); tree != "" {
		env[treeVariable] = tree
	}
	return env, nil
}

// ownVariables are so here whatever the manifest says.
func (c *container) ownVariables() variables {
	own := variables{rootVariable: c.root()}
	if c.port != 0 {
		own["PORT"], own["HOST"] = strconv.Itoa(c.port), nodeAddress
	}
	return own
}

// replace sets a variable; an Event says so when the manifest gives it another value, once for all runs. A manifest
// may give the folder of the volumes any value, which is that of other clusters.
func replace(c *container, env variables, name, value string) {
	manifest := slices.ContainsFunc(c.spec.Env, func(entry corev1.EnvVar) bool { return entry.Name == name })
	if before := env[name]; manifest && name != rootVariable && before != value && !c.created {
		c.pod.event(corev1.EventTypeWarning, "VariableReplaced", fmt.Sprintf(
			"container %s: %s is %s, not %s as in the manifest: the program has to listen there", c.spec.Name, name,
			value, before))
	}
	env[name] = value
}

func searchPath() string {
	if path := os.Getenv("PATH"); path != "" {
		return path
	}
	return defaultPath
}

func (p *pod) hostname() string {
	if p.now.Spec.Hostname != "" {
		return p.now.Spec.Hostname
	}
	return p.now.Name
}

// serviceVariables are those of the Services; a pod that does not want them gets those of the API only.
func (c *container) serviceVariables() variables {
	p := c.pod
	if p.manager.config.Services == nil {
		return nil
	}
	all := p.manager.config.Services.Environment(p.now.Namespace)
	if wanted := p.now.Spec.EnableServiceLinks; wanted == nil || *wanted {
		return all
	}
	few := variables{}
	for name, value := range all {
		if strings.HasPrefix(name, "KUBERNETES_") {
			few[name] = value
		}
	}
	return few
}

// addSources adds the entries of envFrom. As in Kubernetes, those whose name cannot be a variable are left out.
func (c *container) addSources(ctx context.Context, env variables) error {
	for _, source := range c.spec.EnvFrom {
		values := variables{}
		switch {
		case source.ConfigMapRef != nil:
			object, err := c.pod.configMap(ctx, source.ConfigMapRef.Name, source.ConfigMapRef.Optional)
			if err != nil {
				return err
			}
			maps.Copy(values, object.Data)
		case source.SecretRef != nil:
			object, err := c.pod.secret(ctx, source.SecretRef.Name, source.SecretRef.Optional)
			if err != nil {
				return err
			}
			for key, value := range object.Data {
				values[key] = string(value)
			}
		}
		for key, value := range values {
			if name := source.Prefix + key; name != "" && !strings.ContainsAny(name, "=\x00") {
				env[name] = value
			}
		}
	}
	return nil
}

// value is that of one variable; ok is false for one that is left out.
func (c *container) value(
	ctx context.Context, entry corev1.EnvVar, known ...map[string]string,
) (value string, ok bool, err error) {
	from := entry.ValueFrom
	switch {
	case from == nil:
		return expansion.Expand(entry.Value, expansion.MappingFuncFor(known...)), true, nil
	case from.FieldRef != nil:
		value, err = c.pod.field(from.FieldRef.FieldPath)
		return value, true, err
	case from.ResourceFieldRef != nil:
		value, err = resourceField(c.pod.now, c.spec, from.ResourceFieldRef)
		return value, true, err
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		object, err := c.pod.configMap(ctx, ref.Name, ref.Optional)
		if err != nil {
			return "", false, err
		}
		value, ok := object.Data[ref.Key]
		return value, ok, missingKey(ok, ref.Optional, "ConfigMap", c.pod.now.Namespace, ref.Name, ref.Key)
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		object, err := c.pod.secret(ctx, ref.Name, ref.Optional)
		if err != nil {
			return "", false, err
		}
		value, ok := object.Data[ref.Key]
		return string(value), ok, missingKey(ok, ref.Optional, "Secret", c.pod.now.Namespace, ref.Name, ref.Key)
	}
	return "", false, fmt.Errorf("variable %s comes from a source that this cluster does not know", entry.Name)
}

func missingKey(ok bool, optional *bool, kind, namespace, name, key string) error {
	if ok || optional != nil && *optional {
		return nil
	}
	return fmt.Errorf("couldn't find key %s in %s %s/%s", key, kind, namespace, name)
}

// configMap returns an empty object for an optional one that is missing.
func (p *pod) configMap(ctx context.Context, name string, optional *bool) (*corev1.ConfigMap, error) {
	object, err := p.manager.config.Objects.ConfigMap(ctx, p.now.Namespace, name)
	if apierrors.IsNotFound(err) && optional != nil && *optional {
		return &corev1.ConfigMap{}, nil
	}
	return object, err
}

// secret returns an empty object for an optional one that is missing.
func (p *pod) secret(ctx context.Context, name string, optional *bool) (*corev1.Secret, error) {
	object, err := p.manager.config.Objects.Secret(ctx, p.now.Namespace, name)
	if apierrors.IsNotFound(err) && optional != nil && *optional {
		return &corev1.Secret{}, nil
	}
	return object, err
}

// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kind/record"
	"github.com/pipedeck/pipedeck/system/inputfile"
)

const (
	// maxConfig bounds what is read of the user's file.
	maxConfig = 1 << 20
	loopback  = "127.0.0.1"

	configKind    = "Cluster"
	configVersion = "kind.x-k8s.io/v1alpha4"
)

// ConfigError is a mistake in the user's configuration of kind.
type ConfigError struct {
	File string
	// Line is 0 when it is not known.
	Line    int
	Problem string
	// Err is why the file cannot be read, or nil.
	Err error
}

// Unwrap returns Err.
func (e *ConfigError) Unwrap() error { return e.Err }

func (e *ConfigError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Problem
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
}

// configuration merges the user's file with what is ours.
func (p *Provider) configuration() (*v1alpha4.Cluster, error) {
	wanted := &v1alpha4.Cluster{}
	if p.File != "" {
		content, err := readBounded(p.File)
		if err != nil {
			return nil, err
		}
		if wanted, err = decodeConfig(p.File, content, p.NodeImage); err != nil {
			return nil, &cluster.HintError{Err: err, Hint: "fix the file given by --kind-config", Usage: true}
		}
	}
	p.complete(wanted)
	if p.File == "" {
		// A file of the user's may set the same arguments, or ask for several control planes.
		wanted.KubeadmConfigPatchesJSON6902 = promptly()
	}
	return wanted, nil
}

// promptly are patches for both forms of kubeadm's configuration, so that pods start seconds earlier:
// the only controller manager and the only scheduler of a cluster need not be elected, and the
// controllers, each of which creates its own account at its start, are not held to the few requests
// a second that spare a shared API server.
func promptly() []v1alpha4.PatchJSON6902 {
	patches := map[string]string{
		"v1beta3": `[
  {"op": "add", "path": "/controllerManager/extraArgs/leader-elect", "value": "false"},
  {"op": "add", "path": "/controllerManager/extraArgs/kube-api-qps", "value": "200"},
  {"op": "add", "path": "/controllerManager/extraArgs/kube-api-burst", "value": "400"},
  {"op": "add", "path": "/scheduler/extraArgs", "value": {"leader-elect": "false"}}
]`,
		"v1beta4": `[
  {"op": "add", "path": "/controllerManager/extraArgs/-", "value": {"name": "leader-elect", "value": "false"}},
  {"op": "add", "path": "/controllerManager/extraArgs/-", "value": {"name": "kube-api-qps", "value": "200"}},
  {"op": "add", "path": "/controllerManager/extraArgs/-", "value": {"name": "kube-api-burst", "value": "400"}},
  {"op": "add", "path": "/scheduler/extraArgs", "value": [{"name": "leader-elect", "value": "false"}]}
]`,
	}
	var all []v1alpha4.PatchJSON6902
	for _, version := range slices.Sorted(maps.Keys(patches)) {
		all = append(all, v1alpha4.PatchJSON6902{
			Group: "kubeadm.k8s.io", Version: version, Kind: "ClusterConfiguration", Patch: patches[version],
		})
	}
	return all
}

// complete sets what is ours.
func (p *Provider) complete(wanted *v1alpha4.Cluster) {
	wanted.TypeMeta = v1alpha4.TypeMeta{Kind: configKind, APIVersion: configVersion}
	wanted.Name = p.name
	if wanted.Networking.APIServerAddress == "" && wanted.Networking.IPFamily != v1alpha4.IPv6Family {
		wanted.Networking.APIServerAddress = loopback
	}
	if len(wanted.Nodes) == 0 {
		wanted.Nodes = []v1alpha4.Node{{}}
	}
	for i := range wanted.Nodes {
		node := &wanted.Nodes[i]
		if node.Role == "" {
			node.Role = v1alpha4.ControlPlaneRole
		}
		if p.NodeImage != "" {
			node.Image = p.NodeImage
		}
		if node.Image == "" {
			node.Image = defaultNodeImage
		}
		for j := range node.ExtraPortMappings {
			// kind's own default is every address of the machine.
			if mapping := &node.ExtraPortMappings[j]; mapping.ListenAddress == "" {
				mapping.ListenAddress = loopback
			}
		}
	}
}

func readBounded(path string) ([]byte, error) {
	unreadable := func(err error) error {
		if known := (*fs.PathError)(nil); errors.As(err, &known) {
			err = known.Err // the path is in File
		}
		return &cluster.HintError{
			Err:  &ConfigError{File: path, Problem: "cannot be read: " + err.Error(), Err: err},
			Hint: "give a file that you can read with --kind-config", Usage: true,
		}
	}
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, unreadable(err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxConfig+1))
	if err != nil {
		return nil, unreadable(err)
	}
	if len(content) > maxConfig {
		return nil, &cluster.HintError{
			Err:  &ConfigError{File: path, Problem: fmt.Sprintf("is larger than %d bytes", maxConfig)},
			Hint: "see --kind-config", Usage: true,
		}
	}
	return content, nil
}

// decodeConfig returns all conflicts at once.
func decodeConfig(path string, content []byte, nodeImage string) (*v1alpha4.Cluster, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, &ConfigError{File: path, Problem: err.Error()}
	}
	if document.IsZero() {
		return nil, &ConfigError{File: path,
			Problem: "is empty; leave --kind-config out, or describe a cluster of apiVersion " + configVersion}
	}
	wanted := &v1alpha4.Cluster{}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(wanted); err != nil {
		return nil, decodeError(path, err)
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, &ConfigError{File: path, Problem: "holds more than one document"}
	}
	return wanted, conflicts(path, &document, wanted, nodeImage)
}

// decodeError gives each of the decoder's complaints its own line.
func decodeError(path string, err error) error {
	var mistakes *yaml.TypeError
	if !errors.As(err, &mistakes) {
		return &ConfigError{File: path, Problem: err.Error()}
	}
	var all []error
	for _, mistake := range mistakes.Errors {
		e := &ConfigError{File: path, Problem: mistake}
		if _, scanErr := fmt.Sscanf(mistake, "line %d:", &e.Line); scanErr == nil {
			_, e.Problem, _ = strings.Cut(mistake, ": ")
		}
		all = append(all, e)
	}
	return errors.Join(all...)
}

func conflicts(path string, document *yaml.Node, wanted *v1alpha4.Cluster, nodeImage string) error {
	var all []error
	conflict := func(problem string, keys ...any) {
		all = append(all, &ConfigError{File: path, Line: lineOf(document, keys...), Problem: problem})
	}
	if wanted.APIVersion != configVersion || wanted.Kind != configKind {
		conflict(fmt.Sprintf("apiVersion must be %s and kind %s", configVersion, configKind), "apiVersion")
	}
	if wanted.Name != "" {
		conflict("pipedeck names the cluster itself; remove name", "name")
	}
	if address := wanted.Networking.APIServerAddress; address != "" {
		if parsed, err := netip.ParseAddr(address); err != nil || !parsed.IsLoopback() {
			conflict("networking.apiServerAddress must stay on this machine, for example "+loopback, "networking",
				"apiServerAddress")
		}
	}
	if len(wanted.Nodes) > record.MaxNodes {
		conflict(fmt.Sprintf("%d nodes are too many; use at most %d", len(wanted.Nodes), record.MaxNodes), "nodes")
	}
	for i, node := range wanted.Nodes {
		if nodeImage != "" && node.Image != "" && node.Image != nodeImage {
			conflict(fmt.Sprintf("the image %s contradicts --node-image %s; remove one of them", node.Image, nodeImage),
				"nodes", i, "image")
		}
	}
	return errors.Join(all...)
}

// lineOf follows keys and indices as far as they lead.
func lineOf(node *yaml.Node, keys ...any) int {
	if node.Kind == yaml.DocumentNode && len(node.Content) > 0 {
		node = node.Content[0]
	}
	line := node.Line
	for _, key := range keys {
		next := child(node, key)
		if next == nil {
			break
		}
		node, line = next, next.Line
	}
	return line
}

func child(node *yaml.Node, key any) *yaml.Node {
	switch key := key.(type) {
	case int:
		if node.Kind == yaml.SequenceNode && key < len(node.Content) {
			return node.Content[key]
		}
	case string:
		for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == key {
				return node.Content[i+1]
			}
		}
	}
	return nil
}

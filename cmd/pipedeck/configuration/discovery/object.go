// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/system/yamlplace"
)

// object is a document of a manifest.
type object struct {
	group, kind, name, namespace string
	file                         string
	line                         int
	node                         *yaml.Node
}

// scoped reports whether the object is in no namespace.
func (o object) scoped() bool {
	switch o.kind {
	case "Namespace", "Node", "PersistentVolume", "CustomResourceDefinition", "StorageClass", "IngressClass",
		"PriorityClass", "RuntimeClass", "APIService", "CSIDriver", "CSINode", "VolumeAttachment",
		"CertificateSigningRequest", "FlowSchema", "PriorityLevelConfiguration", "GatewayClass",
		"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "ValidatingAdmissionPolicy",
		"ValidatingAdmissionPolicyBinding", "VolumeAttributesClass", "DeviceClass":
		return true
	}
	return strings.HasPrefix(o.kind, "Cluster") // ClusterRole, and by custom those of others
}

// builtIns are the API groups of Kubernetes itself, and those of routes, which an embedded cluster knows.
var builtIns = []string{
	"", "apps", "batch", "autoscaling", "policy", "extensions", "networking.k8s.io", "rbac.authorization.k8s.io",
	"storage.k8s.io", "scheduling.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "node.k8s.io",
	"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "certificates.k8s.io",
	"events.k8s.io", "flowcontrol.apiserver.k8s.io", "resource.k8s.io", "gateway.networking.k8s.io",
	"networking.istio.io",
}

// builtIn reports whether a cluster has the kind without a definition.
func (o object) builtIn() bool { return slices.Contains(builtIns, o.group) }

// tool is whose configuration the object is, when it is none for a cluster to keep; empty for a manifest.
func (o object) tool() string {
	switch {
	case o.group == "argoproj.io" && (o.kind == "Application" || o.kind == "ApplicationSet" || o.kind == "AppProject"):
		return "Argo CD"
	case strings.HasSuffix(o.group, ".toolkit.fluxcd.io"):
		return "Flux"
	case o.group == "pipecd.dev":
		return "PipeCD"
	case o.group == "" && o.kind == "Config":
		return "kubectl"
	case o.group == "kustomize.config.k8s.io":
		return "kustomize"
	case o.group == "kind.x-k8s.io", o.group == "k3d.io", o.group == "eksctl.io", o.group == "skaffold",
		o.group == "backstage.io", o.group == "kubeadm.k8s.io", o.group == "ctlptl.dev",
		strings.HasSuffix(o.group, ".config.k8s.io"), o.group == "audit.k8s.io", o.group == "helm.sh":
		return o.group
	}
	return ""
}

// syntaxError is a file that is no YAML.
type syntaxError struct {
	line    int
	message string
}

func (e *syntaxError) Error() string { return e.message }

var (
	// manifestLine begins a document of Kubernetes, so that its file is meant to be a manifest.
	manifestLine = regexp.MustCompile(`(?m)(^[\s{]*|[{,]\s*)["']?apiVersion["']?\s*:`)
	kindLine     = regexp.MustCompile(`(?m)(^[\s{]*|[{,]\s*)["']?kind["']?\s*:`)
)

// objects returns the documents of a file; none when one of them is no manifest. An error is of a file that is meant
// to be one.
func objects(data []byte, file string) ([]object, error) {
	if !manifestLine.Match(data) || !kindLine.Match(data) {
		return nil, nil
	}
	var found []object
	foreign := 0 // the line of a document that is no manifest
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) && foreign > 0 && len(found) > 0 {
			return nil, &syntaxError{foreign, "a document without apiVersion and kind"}
		}
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, wrongSyntax(data, err)
		}
		if len(found) >= maxDocuments {
			return nil, &syntaxError{document.Line, "the file has too many documents"}
		}
		root := content(&document)
		if root == nil || root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
			continue
		}
		o := header(root, file)
		if o.kind == "" {
			foreign = o.line
			continue
		}
		items := field(root, "items")
		if !strings.HasSuffix(o.kind, "List") || items == nil {
			found = append(found, o)
			continue
		}
		for _, item := range items.Content {
			found = append(found, header(resolved(item), file))
		}
	}
}

func header(root *yaml.Node, file string) object {
	version, kind := text(field(root, "apiVersion")), text(field(root, "kind"))
	if version == "" {
		return object{file: file, line: root.Line}
	}
	metadata := field(root, "metadata")
	group, _, grouped := strings.Cut(version, "/")
	if !grouped {
		group = ""
	}
	return object{
		group: group, kind: kind, name: text(field(metadata, "name")), namespace: text(field(metadata, "namespace")),
		file: file, line: root.Line, node: root,
	}
}

// wrongSyntax names the line of an error of the parser.
func wrongSyntax(data []byte, err error) *syntaxError {
	line, message := yamlplace.Of(data, err)
	line = max(line, 1)
	if bytes.Contains(data, []byte("{{")) {
		message += "; with {{ it looks like a template, which only charts may have"
	}
	return &syntaxError{line, message}
}

// generatedLine is how programs mark what they write, in one of the first lines of a file.
var generatedLine = regexp.MustCompile(`(?i)^\s*#.*\bdo not edit\b`)

func generated(data []byte) bool {
	lines := bytes.SplitN(data, []byte("\n"), 11)
	return slices.ContainsFunc(lines[:min(10, len(lines))], generatedLine.Match)
}

// content is the root of a document; nil for an empty one.
func content(document *yaml.Node) *yaml.Node {
	if document.Kind == yaml.DocumentNode {
		if len(document.Content) == 0 {
			return nil
		}
		return document.Content[0]
	}
	return document
}

// field returns the value of a key, which a mapping may also have by a merge; nil for none.
func field(n *yaml.Node, key string) *yaml.Node {
	if value := direct(n, key); value != nil || n == nil {
		return value
	}
	return direct(direct(n, "<<"), key) // a merge within a merge is rare, and may have no end
}

func direct(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return resolved(n.Content[i+1])
		}
	}
	return nil
}

// at follows keys; nil when one is not there.
func at(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		n = field(n, key)
	}
	return n
}

func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func text(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

// texts are the texts of a list, or the one that stands in its place.
func texts(n *yaml.Node) (found []*yaml.Node) {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.ScalarNode {
		return []*yaml.Node{n}
	}
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			if item = resolved(item); item.Kind == yaml.ScalarNode {
				found = append(found, item)
			}
		}
	}
	return found
}

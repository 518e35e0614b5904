// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command protogen compiles the .proto files below api/ and writes the Go code next to them, and the comments of the
// plugin protocol for pipedeck plugin protos.
//
// It needs no protoc: the compiler is a Go library and the code generators are the Go tools of
// this module, so that every developer and CI generate the same bytes.
//
//	go run ./protogen -root ..          write the files
//	go run ./protogen -root .. -check   change nothing; fail and name the files that are stale
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const (
	moduleParam    = "module=github.com/pipedeck/pipedeck"
	validateModule = "github.com/envoyproxy/protoc-gen-validate"
)

// generators are run in this order; the ones after the first add files to its packages.
var generators = []struct{ tool, param string }{
	{"protoc-gen-go", moduleParam},
	{"protoc-gen-go-grpc", moduleParam},
	{"protoc-gen-validate", moduleParam + ",lang=go"},
}

func main() {
	root := flag.String("root", "..", "root of the repository")
	check := flag.Bool("check", false, "compare only; fail when a file is stale")
	flag.Parse()
	if err := run(context.Background(), *root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root string, check bool) error {
	protos, err := find(root, ".proto")
	if err != nil {
		return err
	}
	request, err := compile(ctx, root, protos)
	if err != nil {
		return err
	}
	files := map[string]string{}
	if files[commentsFile], err = comments(request); err != nil {
		return err
	}
	for _, g := range generators {
		if err := generate(ctx, request, g.tool, g.param, files); err != nil {
			return err
		}
	}
	if check {
		return compare(root, files)
	}
	return write(root, files)
}

// compile returns the request that every generator gets, without a parameter.
func compile(ctx context.Context, root string, protos []string) (*pluginpb.CodeGeneratorRequest, error) {
	validateDir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", validateModule).Output()
	if err != nil {
		return nil, fmt.Errorf("find the module %s: %w", validateModule, err)
	}
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
			ImportPaths: []string{root, strings.TrimSpace(string(validateDir))},
		}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	compiled, err := compiler.Compile(ctx, protos...)
	if err != nil {
		return nil, err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: protos}
	seen := map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if seen[file.Path()] {
			return
		}
		seen[file.Path()] = true
		for i := range file.Imports().Len() {
			add(file.Imports().Get(i).FileDescriptor)
		}
		request.ProtoFile = append(request.ProtoFile, protoutil.ProtoFromFileDescriptor(file))
	}
	for _, file := range compiled {
		add(file)
	}
	return roundTrip(request)
}

// roundTrip turns the options that the compiler holds as dynamic messages into plain bytes.
func roundTrip(in *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorRequest, error) {
	data, err := proto.Marshal(in)
	if err != nil {
		return nil, err
	}
	out := &pluginpb.CodeGeneratorRequest{}
	return out, proto.Unmarshal(data, out)
}

func generate(
	ctx context.Context, request *pluginpb.CodeGeneratorRequest, tool, param string, files map[string]string,
) error {
	mine := request
	if tool == "protoc-gen-validate" {
		mine = withoutUnvalidated(request)
	}
	mine.Parameter = proto.String(param)
	input, err := proto.Marshal(mine)
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "tool", tool)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &stderr
	output, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", tool, err, stderr.String())
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(output, &response); err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	if response.Error != nil {
		return fmt.Errorf("%s: %s", tool, response.GetError())
	}
	for _, f := range response.File {
		files[f.GetName()] = f.GetContent()
	}
	return nil
}

// withoutUnvalidated leaves out the files of our own protocols: they carry no rules.
func withoutUnvalidated(in *pluginpb.CodeGeneratorRequest) *pluginpb.CodeGeneratorRequest {
	out := proto.Clone(in).(*pluginpb.CodeGeneratorRequest)
	rules := map[string]bool{}
	for _, f := range in.ProtoFile {
		rules[f.GetName()] = !strings.HasPrefix(f.GetPackage(), "pipedeck.") && hasMessages(f)
	}
	out.FileToGenerate = nil
	for _, name := range in.FileToGenerate {
		if rules[name] {
			out.FileToGenerate = append(out.FileToGenerate, name)
		}
	}
	return out
}

func hasMessages(f *descriptorpb.FileDescriptorProto) bool { return len(f.MessageType) > 0 }

func compare(root string, files map[string]string) error {
	var stale []string
	for name, content := range files {
		have, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || string(have) != content {
			stale = append(stale, name)
		}
	}
	present, err := find(root, ".pb.go", ".pb.validate.go")
	if err != nil {
		return err
	}
	for _, name := range present {
		if _, ok := files[name]; !ok {
			stale = append(stale, name+" (left over)")
		}
	}
	if len(stale) == 0 {
		return nil
	}
	sort.Strings(stale)
	return fmt.Errorf("generated code is stale, run: make generate\n  %s", strings.Join(stale, "\n  "))
}

func write(root string, files map[string]string) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// find returns the files below api with one of the endings, relative to root, with slashes.
func find(root string, endings ...string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(filepath.Join(root, "api"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		for _, ending := range endings {
			if strings.HasSuffix(path, ending) {
				name, err := filepath.Rel(root, path)
				if err != nil {
					return err
				}
				found = append(found, filepath.ToSlash(name))
			}
		}
		return nil
	})
	sort.Strings(found)
	return found, err
}

package pdf

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// pdfium is PDFium as WebAssembly, with only the functions that this package calls, see README.md.
//
//go:embed pdfium.wasm.zst
var pdfium []byte

// engine is PDFium, compiled. It has no file system, no network, no environment, and only a false
// clock.
type engine struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	memories memories
}

// pageBytes is the size of a page of WebAssembly's memory.
const pageBytes = 64 << 10

// compiled is the code that PDFium was compiled to. It stays as long as the process: a stage that
// starts again, and a second crawl, do not compile PDFium again.
var compiled = wazero.NewCompilationCache()

// newEngine compiles PDFium if this process has not done so, which takes seconds of CPU, 115 MB
// meanwhile, and 30 MB for good. memory is the largest memory of a file, in bytes.
func newEngine(ctx context.Context, memory int) (*engine, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("unpack PDFium: %w", err)
	}
	defer decoder.Close()
	code, err := decoder.DecodeAll(pdfium, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack PDFium: %w", err)
	}
	config := wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(uint32(memory / pageBytes)).WithCloseOnContextDone(true).WithCompilationCache(compiled)
	e := &engine{runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	if err := e.link(ctx, code); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare PDFium: %w", err), e.runtime.Close(ctx))
	}
	return e, nil
}

func (e *engine) link(ctx context.Context, code []byte) (err error) {
	if _, err = wasi_snapshot_preview1.Instantiate(ctx, e.runtime); err != nil {
		return err
	}
	if e.compiled, err = e.runtime.CompileModule(ctx, code); err != nil {
		return err
	}
	// PDFium can call its host back, for forms and files. The functions that are used here do not.
	host := e.runtime.NewHostModuleBuilder("env")
	for _, f := range e.compiled.ImportedFunctions() {
		if module, name, _ := f.Import(); module == "env" {
			results := len(f.ResultTypes())
			host.NewFunctionBuilder().WithGoFunction(api.GoFunc(func(_ context.Context, stack []uint64) {
				clear(stack[:results])
			}), f.ParamTypes(), f.ResultTypes()).Export(name)
		}
	}
	_, err = host.Instantiate(ctx)
	return err
}

func (e *engine) close(ctx context.Context) error { return e.runtime.Close(ctx) }

// instance is PDFium with its own memory, for one file. After its first error no function is called
// any more, and every result is zero.
type instance struct {
	ctx    context.Context
	module api.Module
	err    error
	// scratch is memory for results, of scratchBytes.
	scratch uint32
	calls   map[string]api.Function
}

const scratchBytes = 64 << 10

func (e *engine) instance(ctx context.Context) *instance {
	in := &instance{ctx: ctx, calls: map[string]api.Function{}}
	if allocator := e.memories.allocator(); allocator != nil {
		ctx = experimental.WithMemoryAllocator(ctx, allocator)
	}
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize")
	if in.module, in.err = e.runtime.InstantiateModule(ctx, e.compiled, config); in.err != nil {
		return in
	}
	in.call("FPDF_InitLibrary")
	in.scratch = in.alloc(scratchBytes)
	return in
}

// close gives the memory back, whatever state the instance is in.
func (in *instance) close() {
	if in.module != nil {
		_ = in.module.Close(context.WithoutCancel(in.ctx))
	}
}

// call calls a function of PDFium; 0 after an error.
func (in *instance) call(name string, args ...uint64) uint64 {
	if in.err != nil {
		return 0
	}
	f := in.calls[name]
	if f == nil {
		if f = in.module.ExportedFunction(name); f == nil {
			in.err = fmt.Errorf("PDFium has no %s", name)
			return 0
		}
		in.calls[name] = f
	}
	results, err := f.Call(in.ctx, args...)
	if err != nil {
		in.err = fmt.Errorf("%s: %w", name, err)
		return 0
	}
	if len(results) == 0 {
		return 0
	}
	return results[0]
}

// number is the result of a function that returns an int.
func (in *instance) number(name string, args ...uint64) int {
	return int(int32(uint32(in.call(name, args...))))
}

// errMemory: a file needs more memory than it may have.
var errMemory = errors.New("out of memory")

func (in *instance) alloc(bytes int) uint32 {
	at := uint32(in.call("malloc", uint64(bytes)))
	if at == 0 && in.err == nil {
		in.err = errMemory
	}
	return at
}

// put copies bytes into the memory.
func (in *instance) put(data []byte) uint32 {
	at := in.alloc(max(len(data), 1))
	if in.err == nil && !in.module.Memory().Write(at, data) {
		in.err = errMemory
	}
	return at
}

// bytes is a part of the memory, until the next call.
func (in *instance) bytes(at uint32, n int) []byte {
	if in.err != nil || n <= 0 {
		return nil
	}
	data, ok := in.module.Memory().Read(at, uint32(n))
	if !ok {
		in.err = errMemory
	}
	return data
}

// utf16 is a text of so many units in the memory, without the zero at its end.
func (in *instance) utf16(at uint32, units int) []rune {
	data := in.bytes(at, 2*units)
	text := make([]uint16, 0, len(data)/2)
	for ; len(data) >= 2; data = data[2:] {
		text = append(text, binary.LittleEndian.Uint16(data))
	}
	if n := len(text); n > 0 && text[n-1] == 0 {
		text = text[:n-1]
	}
	return utf16.Decode(text)
}

// once makes the engine when it is needed first. An error is tried again.
type once struct {
	mu     sync.Mutex
	engine *engine
}

func (o *once) get(ctx context.Context, memory int) (*engine, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.engine != nil {
		return o.engine, nil
	}
	e, err := newEngine(ctx, memory)
	if err == nil {
		o.engine = e
	}
	return e, err
}

func (o *once) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.engine == nil {
		return nil
	}
	e := o.engine
	o.engine = nil
	return e.close(context.Background())
}

# SPDX-License-Identifier: Apache-2.0
# fish completion for tulle; what can be completed is asked of the program itself.

function __tulle_benches
    tulle bench --list 2>/dev/null | string replace -r ' +' \t
end

function __tulle_options
    tulle info --json 2>/dev/null | string replace -rf '^ *"name": "(.*)",$' '$1='
end

function __tulle_processes
    tulle ps 2>/dev/null | string replace -r '^ *(\d+) +' '$1\t'
end

set -l commands info bench run ps cpus cc c++ help
complete -c tulle -f
complete -c tulle -n "not __fish_seen_subcommand_from $commands" -a info -d 'Show the machine and the options'
complete -c tulle -n "not __fish_seen_subcommand_from $commands" -a bench -d 'Measure the library beside its peers'
complete -c tulle -n "not __fish_seen_subcommand_from $commands" -a run -d 'Run a program with options of the library'
complete -c tulle -n "not __fish_seen_subcommand_from $commands" -a ps -d 'Show what the threads of a process are doing'
complete -c tulle -n "not __fish_seen_subcommand_from $commands" -a cpus -d 'Show who shares the processors'
complete -c tulle -n "not __fish_seen_subcommand_from $commands" -a cc -d 'Compile C with checks of accesses'
complete -c tulle -n "not __fish_seen_subcommand_from $commands" -a c++ -d 'Compile C++ with checks of accesses'
complete -c tulle -n "not __fish_seen_subcommand_from $commands" -a help -d 'Explain a command'
complete -c tulle -n "not __fish_seen_subcommand_from $commands" -l version -d 'Print the version'
complete -c tulle -s h -l help -d 'Print help'

complete -c tulle -n '__fish_seen_subcommand_from help' -a 'info bench run ps cpus cc c++ help'

complete -c tulle -n '__fish_seen_subcommand_from info cpus' -l json -d 'Print one JSON object'

complete -c tulle -n '__fish_seen_subcommand_from bench' -a '(__tulle_benches)'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l list -d 'List the benchmarks'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l quick -d 'Small sizes'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l paper -x -a 'coherence dszoom octopos paper qthreads tnt' -d 'Papers that the page begins with'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l json -d 'Print JSON lines'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l html -r -F -d 'Write a page with plots'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l runs -x -d 'Runs of each program'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l workers -x -d 'Numbers of workers'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l places -x -d 'Numbers of places'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l n -x -d 'Size of the benchmarks that are named'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l sources -x -a '(__fish_complete_directories)' -d 'Folder of the sources of SPLASH'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l programs -x -d 'Of its programs these only'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l unit -x -a '64 128 256 512 1024 2048 4096' -d 'Bytes of copies that are brought at once'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l emulated -d 'Count the switch on other architectures'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l hosts -x -d 'Places on these hosts'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l mpi -x -a 'openmpi mpich' -d 'Over which MPI'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l peers -d 'Measure the peers'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l no-peers -d 'Leave the peers out'
complete -c tulle -n '__fish_seen_subcommand_from bench' -l dir -x -a '(__fish_complete_directories)' -d 'Folder of the programs'

complete -c tulle -n '__fish_seen_subcommand_from run' -s n -l places -x -d 'Processes, one program'
complete -c tulle -n '__fish_seen_subcommand_from run' -l hosts -x -d 'Places on these hosts'
complete -c tulle -n '__fish_seen_subcommand_from run' -l mpi -x -a 'openmpi mpich' -d 'Which MPI starts them'
complete -c tulle -n '__fish_seen_subcommand_from run' -l memory-places -x -d 'So many of the places, the last ones, have memory only'
complete -c tulle -n '__fish_seen_subcommand_from run' -l tags -x -a 'others all none' -d 'Whose lines begin with the number of their place'
complete -c tulle -n '__fish_seen_subcommand_from run' -l no-tags -d 'The same as --tags none'
complete -c tulle -n '__fish_seen_subcommand_from run' -l io -x -a 'own 0' -d 'Whose input and output the places have'
complete -c tulle -n '__fish_seen_subcommand_from run' -l grace -x -d 'Seconds to end after a signal'
complete -c tulle -n '__fish_seen_subcommand_from run' -l workers -x -d 'OS threads that run threads'
complete -c tulle -n '__fish_seen_subcommand_from run' -l stack-size -x -d 'Bytes of a stack'
complete -c tulle -n '__fish_seen_subcommand_from run' -l no-bind -d 'Places share all processors'
complete -c tulle -n '__fish_seen_subcommand_from run' -l stack-report -d 'How much of their stacks threads have used'
complete -c tulle -n '__fish_seen_subcommand_from run' -l explain -d 'Which calls have kept workers from their threads'
complete -c tulle -n '__fish_seen_subcommand_from run' -l pthreads -d 'Threads of PROG are threads of Tulle'
complete -c tulle -n '__fish_seen_subcommand_from run' -l ucontext -d 'Switches of <ucontext.h> by Tulle'
complete -c tulle -n '__fish_seen_subcommand_from run' -l share-cpus -d 'Shares the processors with other programs'
complete -c tulle -n '__fish_seen_subcommand_from run' -l share-globals -d 'Places have the global variables in common'
complete -c tulle -n '__fish_seen_subcommand_from run' -l check -d 'Finds pointers that are sent to other places'
complete -c tulle -n '__fish_seen_subcommand_from run' -l seed -x -d 'Seed of a deterministic run'
complete -c tulle -n '__fish_seen_subcommand_from run' -l explore -x -d 'Deterministic runs under so many seeds'
complete -c tulle -n '__fish_seen_subcommand_from run' -l time-limit -x -d 'Seconds for each of them'
complete -c tulle -n '__fish_seen_subcommand_from run' -l set -x -a '(__tulle_options)' -d 'Any option'
complete -c tulle -n '__fish_seen_subcommand_from run' -a '(__fish_complete_subcommand)'

complete -c tulle -n '__fish_seen_subcommand_from ps' -a '(__tulle_processes)'

complete -c tulle -n '__fish_seen_subcommand_from cc c++' -F
complete -c tulle -n '__fish_seen_subcommand_from cc c++' -l checks -x -a 'all stores loads int-loads fp-loads none' -d 'Which accesses are checked'
complete -c tulle -n '__fish_seen_subcommand_from cc c++' -l clang -x -a '(__fish_complete_command)' -d 'The program to wrap'
complete -c tulle -n '__fish_seen_subcommand_from cc c++' -l scheme -x -a 'states refresh directory races' -d 'How accesses are checked'
complete -c tulle -n '__fish_seen_subcommand_from cc c++' -l list -d 'What has no checks'
complete -c tulle -n '__fish_seen_subcommand_from cc c++' -l share-globals -d 'Variables are coherent memory, too'
